#include "sampling/search_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/random.h"
#include "hifi/error.h"

namespace hifi {

namespace {

constexpr std::size_t kNobody = SIZE_MAX;

// a = b with one player flipped (kNobody: a = b).
bool same(const Coalition& a, const Coalition& b, std::size_t player) {
  for (std::size_t w = 0; w < a.words(); ++w) {
    const std::uint64_t flip = player / 64 == w ? std::uint64_t{1} << (player % 64) : 0;
    if (a.word(w) != (b.word(w) ^ flip)) return false;
  }
  return true;
}

}  // namespace

SearchStore::SearchStore(std::size_t players, std::size_t budget, std::uint64_t seed,
                         const EvaluateCoalitions& evaluate)
    : players_(players), budget_(budget), evaluate_(evaluate), slots_(1024, kAbsent) {
  RandomStream random(seed, Purpose::search_keys);
  for (std::size_t i = 0; i < players; ++i) player_key_.push_back(random.next_u64());
}

std::uint64_t SearchStore::key_of(const Coalition& coalition) const {
  std::uint64_t key = 0;
  for (std::size_t w = 0; w < coalition.words(); ++w) {
    for (std::uint64_t rest = coalition.word(w); rest != 0; rest &= rest - 1) {
      key ^= player_key_[64 * w + static_cast<std::size_t>(std::countr_zero(rest))];
    }
  }
  return key;
}

std::uint32_t SearchStore::find(std::uint64_t key, const Coalition& coalition,
                                std::size_t flipped_player) const {
  for (std::size_t slot = key & (slots_.size() - 1);; slot = (slot + 1) & (slots_.size() - 1)) {
    const std::uint32_t at = slots_[slot];
    if (at == kAbsent) return kAbsent;
    if (keys_[at] == key && same(coalitions_[at], coalition, flipped_player)) return at;
  }
}

std::uint32_t SearchStore::find(const Coalition& coalition) const {
  return find(key_of(coalition), coalition, kNobody);
}

std::uint32_t SearchStore::flipped(std::uint32_t at, std::size_t player) const {
  return find(keys_[at] ^ player_key_[player], coalitions_[at], player);
}

void SearchStore::grow() {
  std::vector<std::uint32_t> wider(2 * slots_.size(), kAbsent);
  for (std::uint32_t at = 0; at < keys_.size(); ++at) {
    std::size_t slot = keys_[at] & (wider.size() - 1);
    while (wider[slot] != kAbsent) slot = (slot + 1) & (wider.size() - 1);
    wider[slot] = at;
  }
  slots_ = std::move(wider);
}

void SearchStore::insert(const Coalition& coalition, std::uint64_t key) {
  std::size_t slot = key & (slots_.size() - 1);
  while (slots_[slot] != kAbsent) slot = (slot + 1) & (slots_.size() - 1);
  slots_[slot] = static_cast<std::uint32_t>(coalitions_.size());
  coalitions_.push_back(coalition);
  keys_.push_back(key);
  if (2 * keys_.size() > slots_.size()) grow();
}

void SearchStore::evaluate_from(std::size_t first) {
  if (first == coalitions_.size()) return;
  const auto wanted = std::span(coalitions_).subspan(first);
  const std::vector<double> found = evaluate_(wanted);
  if (found.size() != wanted.size()) {
    throw Error(ErrorCode::bug, fmt::format("{} losses for {} coalitions", found.size(), wanted.size()));
  }
  for (const double loss : found) {
    if (!std::isfinite(loss)) throw model_error("the loss of a coalition is not finite");
    lowest_ = losses_.empty() ? loss : std::min(lowest_, loss);
    highest_ = losses_.empty() ? loss : std::max(highest_, loss);
    losses_.push_back(loss);
  }
}

std::vector<double> SearchStore::losses(std::span<const Coalition> wanted) {
  const std::size_t first = coalitions_.size();
  std::vector<std::uint32_t> at(wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const std::uint64_t key = key_of(wanted[k]);
    at[k] = find(key, wanted[k], kNobody);
    if (at[k] != kAbsent) continue;
    if (coalitions_.size() == budget_) {
      evaluate_from(first);
      throw BudgetSpent{};
    }
    at[k] = static_cast<std::uint32_t>(coalitions_.size());
    insert(wanted[k], key);
  }
  evaluate_from(first);
  std::vector<double> result(wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) result[k] = losses_[at[k]];
  return result;
}

double SearchStore::gain(std::size_t player, const Coalition& context) {
  const std::vector<double> pair = losses(std::vector{context.without(player), context.with(player)});
  return pair[0] - pair[1];
}

}  // namespace hifi
