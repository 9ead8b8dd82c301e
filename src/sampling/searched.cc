#include "sampling/searched.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/interrupt.h"
#include "hifi/error.h"
#include "sampling/exhaustive.h"
#include "vocabulary/lattice_store.h"

namespace hifi {

namespace {

double mean_of(std::span<const double> cell, const RunPlan& plan, std::uint64_t draws) {
  const std::size_t parts = cell.size() == 1 ? 1 : plan.instance_blocks;
  double sum = 0;
  for (const double part : cell.first(parts)) sum += part;
  return sum / static_cast<double>(draws);
}

// Evaluates what the store lacks, in units.
class CellEvaluator {
 public:
  CellEvaluator(Game& game, const CellDraws& draws, CellStore& store, Workers& workers, Progress& progress)
      : game_(game), draws_(draws), store_(store), workers_(workers), progress_(progress) {}

  void evaluate(std::span<const Coalition> wanted) {
    std::vector<Coalition> fresh;
    for (const Coalition& c : wanted) {
      if (store_.find(c) == CellStore::kAbsent) fresh.push_back(c);
    }
    const std::size_t unit = std::max<std::size_t>(1, game_.unit_evaluations() / draws_.draws.size());
    for (std::size_t first = 0; first < fresh.size(); first += unit) {
      if (interrupt_requested()) store_.save();
      check_interrupt();
      evaluate_unit(std::span(fresh).subspan(first, std::min(unit, fresh.size() - first)));
      store_.save_if_due();
    }
  }

 private:
  void evaluate_unit(std::span<const Coalition> coalitions) {
    buffer_.resize(coalitions.size() * draws_.draws.size());
    try {
      game_.losses(CoalitionList::of(game_.players(), coalitions), draws_.draws, buffer_, workers_);
    } catch (...) {
      store_.save();
      throw;
    }
    std::vector<double> cell(store_.width());
    for (std::size_t c = 0; c < coalitions.size(); ++c) {
      sum_up(c, coalitions.size(), cell);
      store_.add(coalitions[c], cell);
    }
    progress_.advance(buffer_.size());
  }

  void sum_up(std::size_t c, std::size_t stride, std::vector<double>& cell) const {
    std::fill(cell.begin(), cell.end(), 0.0);
    const std::size_t background = draws_.instance_blocks;
    const std::size_t round = background + draws_.background_blocks;
    for (std::size_t d = 0; d < draws_.draws.size(); ++d) {
      const double loss = buffer_[d * stride + c];
      if (cell.size() == 1) {
        cell[0] += loss;
        continue;
      }
      cell[draws_.instance_block[d]] += loss;
      cell[background + draws_.draws[d].background_block] += loss;
      if (draws_.round_blocks > 0) cell[round + draws_.draws[d].round_block] += loss;
      cell.back() += loss * loss;
    }
  }

  Game& game_;
  const CellDraws& draws_;
  CellStore& store_;
  Workers& workers_;
  Progress& progress_;
  std::vector<double> buffer_;
};

SearchResult search(const RunPlan& plan, const CellStore& store,
                    const std::function<void(std::span<const Coalition>)>& evaluate) {
  const SearchOptions options{.players = plan.players.size(),
                              .budget = plan.search.coalitions,
                              .seed = plan.seed,
                              .sigma = plan.search.sigma,
                              .rounding = plan.tie_tolerance};
  return search_coalitions(options, [&](std::span<const Coalition> wanted) {
    evaluate(wanted);
    std::vector<double> means;
    for (const Coalition& c : wanted) {
      means.push_back(mean_of(store.values(store.find(c)), plan, plan.search.draws));
    }
    return means;
  });
}

std::vector<Coalition> reported_coalitions(const RunPlan& plan, const SearchResult& found) {
  std::vector<Coalition> list =
      selected_coalitions(plan.players.size(), found.selection, plan.search.reported);
  if (plan.shards == 1) return list;
  std::vector<Coalition> share;
  for (std::size_t k = plan.shard - 1; k < list.size(); k += plan.shards) share.push_back(list[k]);
  return share;
}

// A cell that nobody asked for would be reported as if it had been seen.
void refuse_surplus(const CellStore& cells, std::size_t wanted, const RunFile* file) {
  if (cells.size() == wanted || file == nullptr) return;
  throw input_error(fmt::format("{}: the run file has more coalitions than its plan asks for", file->path()),
                    "it was changed, or searched by another version of hifi: compute it again");
}

SearchedRun finished(const RunPlan& plan, SearchResult found, const CellStore& cells) {
  return {.found = std::move(found), .coalitions = cells.coalitions(), .cells = lattice_of(cells, plan)};
}

}  // namespace

SearchedRun run_searched(Game& game, const SearchDraws& draws, const RunPlan& plan, RunFile* file,
                         Workers& workers, Progress& progress) {
  CellStore searched(file, kSearchPhase, plan.players.size(), search_width(plan));
  CellEvaluator proposals(game, draws[0], searched, workers, progress);
  SearchResult found = search(plan, searched, [&](std::span<const Coalition> c) { proposals.evaluate(c); });
  searched.save();
  refuse_surplus(searched, found.coalitions.size(), file);
  CellStore reported(file, kReportPhase, plan.players.size(), cell_width(plan));
  if (plan.search.split) {
    CellEvaluator report(game, draws[1], reported, workers, progress);
    const std::vector<Coalition> selected = reported_coalitions(plan, found);
    report.evaluate(selected);
    reported.save();
    refuse_surplus(reported, selected.size(), file);
  }
  if (file != nullptr && !plan.per_instance) file->commit([&] { file->put_text("position", kDone); });
  return finished(plan, std::move(found), plan.search.split ? reported : searched);
}

SearchedRun read_searched(RunFile& file, const RunPlan& plan) {
  const CellStore searched(&file, kSearchPhase, plan.players.size(), search_width(plan));
  const auto require = [&](const CellStore& store, std::span<const Coalition> wanted) {
    for (const Coalition& c : wanted) {
      if (store.find(c) != CellStore::kAbsent) continue;
      throw input_error(
          fmt::format("{}: the run file has no coalition {}", file.path(), c.to_string().substr(0, 64)),
          "it was searched by another version of hifi, or cut: compute it again");
    }
  };
  SearchResult found = search(plan, searched, [&](std::span<const Coalition> c) { require(searched, c); });
  refuse_surplus(searched, found.coalitions.size(), &file);
  if (!plan.search.split) return finished(plan, std::move(found), searched);
  const CellStore reported(&file, kReportPhase, plan.players.size(), cell_width(plan));
  const std::vector<Coalition> selected = reported_coalitions(plan, found);
  require(reported, selected);
  refuse_surplus(reported, selected.size(), &file);
  return finished(plan, std::move(found), reported);
}

}  // namespace hifi
