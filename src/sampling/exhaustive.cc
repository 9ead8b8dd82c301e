#include "sampling/exhaustive.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/interrupt.h"
#include "hifi/error.h"

namespace hifi {

namespace {

// Decides when to save: at most about a tenth of the time goes into it, and never more often than once a
// second.
class Saver {
 public:
  Saver(LatticeStore* store, const LatticeState& state) : store_(store), state_(state) {}

  void now() {
    if (store_ == nullptr) return;
    const auto start = Clock::now();
    store_->save(state_);
    last_ = Clock::now();
    cost_ = last_ - start;
  }
  void if_due() {
    const auto pause = std::max<Clock::duration>(std::chrono::seconds(1), 10 * cost_);
    if (store_ != nullptr && Clock::now() - last_ > pause) now();
  }

 private:
  using Clock = std::chrono::steady_clock;
  LatticeStore* store_;
  const LatticeState& state_;
  Clock::time_point last_ = Clock::now();
  Clock::duration cost_{};
};

// The next draws of the run, over the ends of blocks.
std::vector<Draw> next_draws(const DrawPlan& draws, const RunPlan& plan, const LatticeState& state,
                             std::size_t most) {
  std::vector<Draw> result;
  std::uint64_t begin = state.draws_done;
  for (std::size_t block = state.block; block < plan.end_block() && result.size() < most; ++block) {
    const std::size_t first = result.size();
    const std::uint64_t left = draws.block_draws(block) - begin;
    result.resize(first + std::min<std::uint64_t>(left, most - first));
    draws.fill(block, begin, std::span(result).subspan(first));
    begin = 0;
  }
  return result;
}

}  // namespace

void run_exhaustive(Game& game, const DrawPlan& draws, const RunPlan& plan, LatticeState& state,
                    LatticeStore* store, Workers& workers, Progress& progress) {
  const std::uint64_t coalitions = std::uint64_t{1} << game.players();
  const std::uint64_t unit = game.unit_draws();
  std::vector<Draw> batch;
  Saver saver(store, state);
  while (state.block < plan.end_block()) {
    const std::uint64_t all = draws.block_draws(state.block);
    while (state.draws_done < all) {
      batch.resize(std::min(unit, all - state.draws_done));
      draws.fill(state.block, state.draws_done, batch);
      if (interrupt_requested()) saver.now();
      check_interrupt();
      try {
        if (game.lookahead() > 0) game.expect(next_draws(draws, plan, state, game.lookahead()));
        game.accumulate(batch, state.tile, workers);
      } catch (const Error&) {
        // A lattice of one chunk has not been touched by the failed unit; a larger one keeps its last save.
        if (coalitions <= kLatticeChunk) saver.now();
        throw;
      }
      state.draws_done += batch.size();
      progress.advance(batch.size() * coalitions);
      saver.if_due();
    }
    if (plan.shards == 1) {
      state.lattice.add_tile(state.block, state.tile);
    } else {
      saver.now();  // a shard keeps its tiles
    }
    clear(state.tile);
    state.draws_done = 0;
    ++state.block;
  }
  saver.now();
}

}  // namespace hifi
