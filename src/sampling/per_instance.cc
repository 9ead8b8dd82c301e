#include "sampling/per_instance.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "core/interrupt.h"
#include "hifi/error.h"
#include "sampling/exhaustive.h"
#include "vocabulary/cell_store.h"
#include "vocabulary/lattice_store.h"

namespace hifi {

namespace {

// Saves what is new: the lattice of the mean so far, and the cells of the instances since the last time.
class InstanceStore {
 public:
  explicit InstanceStore(RunFile* file) : file_(file) {}

  void save(const PerInstance& state, bool done) {
    if (file_ == nullptr) return;
    file_->commit([&] {
      for (std::size_t b = 0; b < state.lattice.instance.size(); ++b)
        file_->put_array("instance", b, state.lattice.instance[b]);
      put_sums(*file_, "sums", state.lattice.sums);
      for (std::size_t k = saved_; k < state.instances.size(); ++k) {
        const InstanceCells& one = state.instances[k];
        for (std::size_t b = 0; b < one.cells.instance.size(); ++b)
          file_->put_array(name(k), b, one.cells.instance[b]);
        file_->put_array(name(k), one.cells.instance.size(), one.cells.sums.squares);
      }
      nlohmann::json rows = nlohmann::json::array();
      for (const InstanceCells& one : state.instances) rows.push_back(one.row);
      file_->put_text("rows", rows.dump());
      if (done) file_->put_text("position", kDone);
    });
    saved_ = state.instances.size();
    last_ = Clock::now();
  }
  void save_if_due(const PerInstance& state) {
    if (Clock::now() - last_ > std::chrono::seconds(1)) save(state, false);
  }

  static PerInstance load(const RunFile* file, const RunPlan& plan, std::size_t* saved) {
    const std::size_t coalitions = std::size_t{1} << plan.players.size();
    PerInstance state{.lattice = Lattice::zeros(coalitions, plan.instance_blocks, plan.background_blocks,
                                                plan.round_blocks)};
    state.lattice.draws = plan.draws;
    const auto text = file == nullptr ? std::nullopt : file->text("rows");
    if (!text) return state;
    const std::size_t blocks = instance_plan(plan).instance_blocks;
    for (std::size_t b = 0; b < plan.instance_blocks; ++b)
      file->read_array("instance", b, state.lattice.instance[b]);
    read_sums(*file, "sums", state.lattice.sums);
    try {
      for (const auto& row : nlohmann::json::parse(*text)) {
        InstanceCells one{.row = row.get<std::uint32_t>(), .cells = Lattice::zeros(coalitions, blocks, 0, 0)};
        const std::size_t k = state.instances.size();
        for (std::size_t b = 0; b < blocks; ++b) file->read_array(name(k), b, one.cells.instance[b]);
        file->read_array(name(k), blocks, one.cells.sums.squares);
        one.cells.draws = plan.draws / plan.instances;
        state.instances.push_back(std::move(one));
      }
    } catch (const nlohmann::json::exception& error) {
      throw input_error(
          fmt::format("{}: the rows in the run file are broken: {}", file->path(), error.what()));
    }
    if (saved != nullptr) *saved = state.instances.size();
    return state;
  }
  std::size_t* saved() { return &saved_; }

 private:
  using Clock = std::chrono::steady_clock;
  static std::string name(std::size_t k) { return fmt::format("row {}", k); }

  RunFile* file_;
  std::size_t saved_ = 0;
  Clock::time_point last_ = Clock::now();
};

}  // namespace

RunPlan instance_plan(const RunPlan& plan) {
  RunPlan one = plan;
  if (plan.policy == "search") {
    one.search = {};
    one.draws = 0;
    for (const std::uint64_t weight : plan.search.instance_weights) one.draws += weight;
    one.exact = plan.search.instance_exact;
    one.instances = one.draws;
    one.population = Population::instances;
    one.instance_weights = plan.search.instance_weights;
    one.instance_blocks = one.instance_weights.size();
    one.round_weights = one.exact ? std::vector<std::uint64_t>{} : one.instance_weights;
    one.round_blocks = one.round_weights.size();
    one.warnings.clear();
    return one;
  }
  one.draws = plan.draws / plan.instances;
  one.instances = one.draws;
  one.pairs = plan.pairs / plan.instances;
  one.population = Population::instances;
  one.instance_weights = plan.exact || plan.round_blocks == 0 ? plan.background_weights : plan.round_weights;
  for (std::uint64_t& weight : one.instance_weights) weight /= plan.instances;
  one.instance_blocks = one.instance_weights.size();
  // Sampled: the same blocks tell the Monte Carlo error.
  one.round_weights = plan.exact ? std::vector<std::uint64_t>{} : one.instance_weights;
  one.round_blocks = one.round_weights.size();
  one.warnings.clear();
  return one;
}

PerInstance run_per_instance(Game& game, const DrawPlan& draws, const RunPlan& plan, RunFile* file,
                             Workers& workers, Progress& progress) {
  InstanceStore store(file);
  PerInstance state = InstanceStore::load(file, plan, store.saved());
  const std::size_t coalitions = std::size_t{1} << plan.players.size();
  const std::uint64_t rounds = plan.draws / plan.instances;
  const std::uint64_t unit = game.unit_draws();
  BlockSums tile = zero_sums(coalitions, plan.background_blocks, plan.round_blocks);
  for (std::size_t p = state.instances.size(); p < plan.instances; ++p) {
    clear(tile);
    std::vector<Draw> batch;
    for (std::uint64_t first = 0; first < rounds; first += unit) {
      batch.clear();
      for (std::uint64_t r = first; r < std::min(rounds, first + unit); ++r)
        batch.push_back(draws.at(r * plan.instances + p));
      if (interrupt_requested()) store.save(state, false);
      check_interrupt();
      try {
        game.accumulate(batch, tile, workers);
      } catch (...) {
        store.save(state, false);
        throw;
      }
      progress.advance(batch.size() * coalitions);
    }
    state.lattice.add_tile(draws.block_of(p), tile);
    InstanceCells one{.row = batch.front().instance};
    one.cells.instance = plan.round_blocks == 0 ? tile.background : tile.round;
    one.cells.sums.squares = tile.squares;
    one.cells.draws = rounds;
    state.instances.push_back(std::move(one));
    store.save_if_due(state);
  }
  store.save(state, true);
  return state;
}

PerInstance read_per_instance(const RunFile& file, const RunPlan& plan) {
  return InstanceStore::load(&file, plan, nullptr);
}

namespace {

// Of each coalition the sums by block, then of squares.
void sum_up(const CellDraws& draws, std::span<const double> losses, std::size_t c, std::size_t coalitions,
            std::vector<double>& cell) {
  std::fill(cell.begin(), cell.end(), 0.0);
  for (std::size_t d = 0; d < draws.draws.size(); ++d) {
    const double loss = losses[d * coalitions + c];
    cell[draws.round_blocks > 0 ? draws.draws[d].round_block : draws.draws[d].background_block] += loss;
    cell.back() += loss * loss;
  }
}

InstanceCells cells_of(std::uint32_t row, const CellStore& store, std::uint64_t draws) {
  const std::size_t blocks = store.width() - 1;
  InstanceCells one{.row = row, .cells = Lattice::zeros(store.size(), blocks, 0, 0)};
  one.cells.draws = draws;
  for (std::size_t c = 0; c < store.size(); ++c) {
    for (std::size_t b = 0; b < blocks; ++b) one.cells.instance[b][c] = store.values(c)[b];
    one.cells.sums.squares[c] = store.values(c)[blocks];
  }
  return one;
}

}  // namespace

std::vector<InstanceCells> run_amortised(Game& game, const std::vector<Coalition>& coalitions,
                                         const std::function<CellDraws(std::uint32_t)>& draws,
                                         const RunPlan& plan, RunFile* file, Workers& workers,
                                         Progress& progress) {
  const RunPlan one = instance_plan(plan);
  const std::span wanted =
      std::span(coalitions).first(std::min(coalitions.size(), plan.search.instance_coalitions));
  std::vector<InstanceCells> result;
  std::vector<double> cell(one.instance_blocks + 1);
  for (std::uint32_t row = 0; row < plan.rows; ++row) {
    CellStore store(file, kInstancePhase + row, plan.players.size(), cell.size());
    if (store.size() == 0) {
      check_interrupt();
      const CellDraws own = draws(row);
      std::vector<double> losses(wanted.size() * own.draws.size());
      game.losses(CoalitionList::of(game.players(), wanted), own.draws, losses, workers);
      for (std::size_t c = 0; c < wanted.size(); ++c) {
        sum_up(own, losses, c, wanted.size(), cell);
        store.add(wanted[c], cell);
      }
      store.save();
      progress.advance(losses.size());
    }
    result.push_back(cells_of(row, store, one.draws));
  }
  return result;
}

std::vector<InstanceCells> read_amortised(RunFile& file, const RunPlan& plan) {
  const RunPlan one = instance_plan(plan);
  std::vector<InstanceCells> result;
  for (std::uint32_t row = 0; row < plan.rows; ++row) {
    const CellStore store(&file, kInstancePhase + row, plan.players.size(), one.instance_blocks + 1);
    result.push_back(cells_of(row, store, one.draws));
  }
  return result;
}

}  // namespace hifi
