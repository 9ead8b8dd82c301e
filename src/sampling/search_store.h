// The coalitions a search has seen, with their losses. Asks the evaluator for what is new, each coalition
// once, and for no more than the budget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hifi/coalition.h"
#include "sampling/search.h"

namespace hifi {

// Thrown inside a search, and caught by it, when a batch does not fit the budget.
struct BudgetSpent {};

class SearchStore {
 public:
  static constexpr std::uint32_t kAbsent = UINT32_MAX;

  SearchStore(std::size_t players, std::size_t budget, std::uint64_t seed,
              const EvaluateCoalitions& evaluate);

  // The loss of each. Throws BudgetSpent after evaluating as many as fit, in order.
  std::vector<double> losses(std::span<const Coalition> wanted);
  // Two losses differ by their gain: L(context without player) - L(context with player).
  double gain(std::size_t player, const Coalition& context);

  // Positions among the coalitions seen, in the order of evaluation; kAbsent: not seen.
  std::uint32_t find(const Coalition& coalition) const;
  std::uint32_t flipped(std::uint32_t at, std::size_t player) const;

  std::size_t size() const { return coalitions_.size(); }
  std::size_t left() const { return budget_ - coalitions_.size(); }
  double lowest() const { return lowest_; }
  double highest() const { return highest_; }
  const std::vector<Coalition>& coalitions() const { return coalitions_; }
  const std::vector<double>& losses() const { return losses_; }

 private:
  std::uint64_t key_of(const Coalition& coalition) const;
  std::uint32_t find(std::uint64_t key, const Coalition& coalition, std::size_t flipped_player) const;
  void insert(const Coalition& coalition, std::uint64_t key);
  void grow();
  void evaluate_from(std::size_t first);

  std::size_t players_;
  std::size_t budget_;
  const EvaluateCoalitions& evaluate_;
  // The key of a coalition is the xor of a random number per member (Zobrist 1970), so that its neighbours
  // are found without building them.
  std::vector<std::uint64_t> player_key_;
  std::vector<Coalition> coalitions_;
  std::vector<std::uint64_t> keys_;
  std::vector<double> losses_;
  std::vector<std::uint32_t> slots_;
  double lowest_ = 0;
  double highest_ = 0;
};

}  // namespace hifi
