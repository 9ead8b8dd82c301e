#include "game/circuit_players.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "core/files.h"
#include "core/json_text.h"
#include "hifi/error.h"

namespace hifi {

std::string head_name(Head head) { return fmt::format("{}.{}", head.layer, head.head); }

Head parse_head(const std::string& text, std::size_t layers, std::size_t heads, const std::string& place) {
  Head head;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, head.layer);
  bool valid = first.ec == std::errc() && first.ptr != end && *first.ptr == '.';
  if (valid) {
    const auto second = std::from_chars(first.ptr + 1, end, head.head);
    valid = second.ec == std::errc() && second.ptr == end;
  }
  if (valid && head.layer < layers && head.head < heads && head_name(head) == text) return head;
  throw input_error(fmt::format("{}: there is no head \"{}\"", place, text),
                    fmt::format("heads are layer.head, from 0.0 to {}.{}", layers - 1, heads - 1));
}

CircuitPlayers players_from_heads(const std::vector<std::string>& names, std::size_t layers,
                                  std::size_t heads) {
  CircuitPlayers players;
  const bool all = names.size() == 1 && names.front() == "all";
  for (std::uint32_t l = 0; all && l < layers; ++l) {
    for (std::uint32_t h = 0; h < heads; ++h) players.heads.push_back({{l, h}});
  }
  for (std::size_t k = 0; !all && k < names.size(); ++k) {
    players.heads.push_back({parse_head(names[k], layers, heads, "--heads")});
  }
  if (players.heads.size() > kMaxPlayers) {
    throw input_error(
        fmt::format("{} heads are too many players: at most {}", players.heads.size(), kMaxPlayers),
        "merge them with --groups");
  }
  for (const auto& own : players.heads) players.names.push_back(head_name(own.front()));
  return players;
}

CircuitPlayers players_from_head_groups(const std::string& path, std::size_t layers, std::size_t heads) {
  const auto document = parse_json<nlohmann::ordered_json>(read_file(path), path);
  if (!document.is_object() || document.empty()) {
    throw input_error(fmt::format("{}: is no JSON object of groups", path),
                      R"(write {"movers":["9.9","9.6"]})");
  }
  CircuitPlayers players;
  std::set<Head> taken;
  for (const auto& [name, list] : document.items()) {
    const std::string place = fmt::format("{}: group \"{}\"", path, name);
    if (!list.is_array() || list.empty()) throw input_error(fmt::format("{} is no list of heads", place));
    players.names.push_back(name);
    auto& own = players.heads.emplace_back();
    for (const auto& entry : list) {
      if (!entry.is_string()) throw input_error(fmt::format("{}: heads are texts like \"9.6\"", place));
      own.push_back(parse_head(entry.get<std::string>(), layers, heads, place));
      if (!taken.insert(own.back()).second) {
        throw input_error(fmt::format("{}: head {} is there twice", place, head_name(own.back())));
      }
    }
  }
  return players;
}

std::size_t SortedCoalitions::first_layer(const CircuitPlayers& players, std::size_t layers) {
  for (const auto& own : players.heads) {
    for (const Head head : own) layers = std::min<std::size_t>(layers, head.layer);
  }
  return layers;
}

SortedCoalitions::SortedCoalitions(const CircuitPlayers& players, std::size_t layers,
                                   const CoalitionList& list)
    : words_((players.size() + 63) / 64), seen_(layers), layers_(layers) {
  const std::size_t n = players.size();
  std::vector<std::uint32_t> first(n);
  for (std::size_t i = 0; i < n; ++i)
    first[i] = std::min_element(players.heads[i].begin(), players.heads[i].end())->layer;
  std::vector<std::uint32_t> by_layer(n);  // player of each bit
  std::iota(by_layer.begin(), by_layer.end(), 0);
  std::stable_sort(by_layer.begin(), by_layer.end(), [&](auto a, auto b) { return first[a] < first[b]; });
  for (std::uint32_t bit = 0; bit < n; ++bit) {
    std::vector<std::uint64_t> masks(layers);
    for (const Head head : players.heads[by_layer[bit]]) masks[head.layer] |= std::uint64_t{1} << head.head;
    for (std::size_t l = 0; l < layers; ++l) {
      if (masks[l] != 0) layers_[l].push_back({bit, masks[l]});
      if (l >= first[by_layer[bit]]) seen_[l] = bit + 1;
    }
  }

  const std::size_t count = list.size();
  std::vector<std::uint64_t> keys(count * words_);
  for (std::size_t k = 0; k < count; ++k) {
    for (std::uint32_t bit = 0; bit < n; ++bit) {
      if (list.contains(k, by_layer[bit])) keys[k * words_ + bit / 64] |= std::uint64_t{1} << (63 - bit % 64);
    }
  }
  const auto key = [&](std::uint32_t k) { return std::span(keys).subspan(k * words_, words_); };
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto left = key(a);
    const auto right = key(b);
    const auto [x, y] = std::mismatch(left.begin(), left.end(), right.begin());
    return x == left.end() ? a < b : *x < *y;
  });
  keys_.resize(keys.size());
  difference_.assign(count, 0);
  for (std::size_t k = 0; k < count; ++k) {
    std::copy_n(key(order_[k]).begin(), words_, keys_.begin() + static_cast<std::ptrdiff_t>(k * words_));
    if (k == 0) continue;
    difference_[k] = static_cast<std::uint32_t>(n);  // equal coalitions differ nowhere
    for (std::size_t w = 0; w < words_; ++w) {
      const std::uint64_t changed = keys_[k * words_ + w] ^ keys_[(k - 1) * words_ + w];
      if (changed == 0) continue;
      difference_[k] =
          static_cast<std::uint32_t>(64 * w + static_cast<std::size_t>(std::countl_zero(changed)));
      break;
    }
  }
}

std::uint64_t SortedCoalitions::absent(std::size_t k, std::size_t layer) const {
  std::uint64_t mask = 0;
  for (const Switch& s : layers_[layer]) {
    if (!has(k, s.bit)) mask |= s.heads;
  }
  return mask;
}

}  // namespace hifi
