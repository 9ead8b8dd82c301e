#include "model/token_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "core/gemm.h"

namespace hifi {

namespace {

constexpr std::uint32_t kNobody = UINT32_MAX;

// A trie of prefixes; nodes are in the order in which they were met.
struct Node {
  std::int32_t token = 0;
  std::uint32_t position = 0;
  std::uint32_t source = 0;
  std::uint32_t parent = kNobody;
};

struct Trie {
  std::vector<Node> nodes;
  std::vector<std::uint32_t> last;
};

Trie make_trie(std::span<const TokenRows::Prompt> prompts, bool share) {
  Trie trie;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int32_t>, std::uint32_t>
      known;  // source, parent, token
  for (const TokenRows::Prompt& prompt : prompts) {
    std::uint32_t parent = kNobody;
    std::uint32_t position = 0;
    for (const std::int32_t token : prompt.tokens) {
      const auto next = static_cast<std::uint32_t>(trie.nodes.size());
      const auto found =
          share ? known.emplace(std::tuple(prompt.source, parent, token), next).first->second : next;
      if (found == next) trie.nodes.push_back({token, position, prompt.source, parent});
      parent = found;
      ++position;
    }
    trie.last.push_back(parent);
  }
  return trie;
}

std::size_t slots(const Trie& trie) {
  std::array<std::size_t, 2> count{};
  for (const Node& node : trie.nodes) ++count[node.position % 2];
  const std::size_t tiles = (std::max(count[0], count[1]) + kHalfTile - 1) / kHalfTile;
  return tiles * kRowTile;
}

}  // namespace

TokenRows::TokenRows(std::span<const Prompt> prompts, bool share) {
  const Trie trie = make_trie(prompts, share);
  rows_.resize(slots(trie));
  std::array<std::size_t, 2> used{};
  std::vector<std::uint32_t> place(trie.nodes.size());
  for (std::size_t k = 0; k < trie.nodes.size(); ++k) {
    const Node& node = trie.nodes[k];
    const std::size_t half = node.position % 2;
    const std::size_t index = used[half]++;
    place[k] =
        static_cast<std::uint32_t>(index / kHalfTile * kRowTile + half * kHalfTile + index % kHalfTile);
    rows_[place[k]] = {.token = node.token,
                       .position = node.position,
                       .source = node.source,
                       .path = static_cast<std::uint32_t>(ancestors_.size())};
    longest_ = std::max<std::size_t>(longest_, node.position + 1);
    ancestors_.resize(ancestors_.size() + node.position + 1);
    std::uint32_t at = static_cast<std::uint32_t>(k);
    for (std::size_t p = node.position + 1; p-- > 0; at = trie.nodes[at].parent) {
      ancestors_[rows_[place[k]].path + p] = place[at];
    }
  }
  for (const std::uint32_t node : trie.last) last_.push_back(place[node]);
}

std::size_t TokenRows::count(std::span<const Prompt> prompts, bool share) {
  return slots(make_trie(prompts, share));
}

}  // namespace hifi
