#include "sampling/paper_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "core/interrupt.h"
#include "hifi/error.h"
#include "sampling/a3_monitor.h"
#include "sampling/paper_policy.h"
#include "stats/student.h"
#include "vocabulary/lattice_store.h"

namespace hifi {

namespace {

constexpr std::size_t kBatchDiamonds = 32;    // proposed before their losses are looked at
constexpr double kWidthConfidence = .95;      // the paper's rule
constexpr std::uint64_t kFewestToClose = 30;  // draws: two equal losses have a width of 0 and say nothing

// Mean and variance of all losses of a coalition, by slices.
struct Spread {
  double count = 0, mean = 0, squares = 0;
  void add(double x) {
    ++count;
    const double step = x - mean;
    mean += step / count;
    squares += step * (x - mean);
  }
  double half_width() const {
    return t_quantile((1 + kWidthConfidence) / 2, count - 1) * std::sqrt(squares / (count - 1) / count);
  }
};

// Makes visits, or takes them from the store when a run is repeated.
class Visitor {
 public:
  Visitor(Game* game, const DrawPlan* draws, const RunPlan& plan, VisitStore& store, Workers* workers,
          Progress* progress)
      : game_(game), draws_(draws), plan_(plan), store_(store), workers_(workers), progress_(progress) {}

  // Position of the first of them in the store.
  std::size_t make(std::vector<Visit> wanted) {
    const std::size_t first = next_;
    next_ += wanted.size();
    const auto& known = store_.visits();
    for (std::size_t k = 0; k < wanted.size() && first + k < known.size(); ++k) {
      const Visit& visit = known[first + k];
      if (visit.coalition != wanted[k].coalition || visit.range != wanted[k].range ||
          visit.first != wanted[k].first || visit.second != wanted[k].second)
        refuse("other");
    }
    const std::size_t have = std::min(wanted.size(), known.size() - std::min(first, known.size()));
    repeats_ = have == wanted.size();
    if (repeats_) return first;
    if (game_ == nullptr) refuse("fewer");
    wanted.erase(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(have));
    evaluate(wanted);
    for (Visit& visit : wanted) store_.add(std::move(visit));
    return first;
  }
  // All visits were made: the store must hold no others.
  void finish() const {
    if (next_ != store_.visits().size()) refuse("more");
  }
  // True if the visits made last were in the store before.
  bool repeats() const { return repeats_; }

 private:
  [[noreturn]] void refuse(const char* which) const {
    throw input_error(fmt::format("{}: holds {} visits than its plan asks for", store_.path(), which),
                      "the run file was cut, or made by another version of hifi: compute it again");
  }

  // Visits of one range are adjacent and share a call; ranges go in parallel.
  void evaluate(std::vector<Visit>& visits) {
    std::vector<std::size_t> begin;
    for (std::size_t k = 0; k < visits.size(); ++k) {
      if (k == 0 || visits[k].range != visits[k - 1].range) begin.push_back(k);
    }
    begin.push_back(visits.size());
    try {
      check_interrupt();
      workers_->parallel_for(begin.size() - 1, [&](std::size_t g) {
        Workers alone(1);
        evaluate_range(std::span(visits).subspan(begin[g], begin[g + 1] - begin[g]), alone);
      });
    } catch (...) {
      store_.save();
      throw;
    }
    progress_->advance(visits.size() * plan_.paper.range_draws);
  }

  void evaluate_range(std::span<Visit> visits, Workers& workers) const {
    const std::uint64_t size = plan_.paper.range_draws;
    std::vector<Draw> draws;
    for (std::uint64_t k = 0; k < size; ++k)
      draws.push_back(draws_->at(visits[0].range % plan_.paper.ranges * size + k));
    std::vector<Coalition> coalitions;
    for (const Visit& visit : visits) coalitions.push_back(visit.coalition);
    std::vector<double> losses(coalitions.size() * draws.size());
    game_->losses(CoalitionList::of(game_->players(), coalitions), draws, losses, workers);
    const std::size_t part = size / plan_.paper.slices;
    for (std::size_t c = 0; c < visits.size(); ++c) {
      visits[c].slices.assign(plan_.paper.slices, 0.0);
      for (std::size_t d = 0; d < draws.size(); ++d) {
        visits[c].slices[d / part] += losses[d * visits.size() + c] / static_cast<double>(part);
      }
    }
  }

  Game* game_;
  const DrawPlan* draws_;
  const RunPlan& plan_;
  VisitStore& store_;
  Workers* workers_;
  Progress* progress_;
  std::size_t next_ = 0;
  bool repeats_ = false;
};

class PaperLoop {
 public:
  PaperLoop(const RunPlan& plan, VisitStore& store, Visitor& visitor, RunFile* file)
      : plan_(plan), store_(store), visitor_(visitor), file_(file), policy_(options(plan)) {}

  PaperResult run() {
    std::vector<Visit> forced;
    for (const Coalition& c : policy_.forced()) forced.push_back({.coalition = c, .range = 0});
    const std::size_t ends = forced.size();
    take(visitor_.make(std::move(forced)), ends);
    std::uint64_t left = plan_.paper.evaluations / plan_.paper.range_draws - ends;
    while (left >= 4 && policy_.open() > 0) {
      const std::size_t batch = std::min<std::uint64_t>(kBatchDiamonds, left / 4);
      run_batch(batch);
      left -= 4 * batch;
    }
    return {.visits = {}, .fallbacks = fallbacks_, .converged = plan_.paper.width > 0 && policy_.open() == 0};
  }

 private:
  static PaperOptions options(const RunPlan& plan) {
    return {.players = plan.players.size(), .seed = plan.seed};
  }

  void run_batch(std::size_t count) {
    std::vector<Diamond> diamonds;
    std::vector<Visit> wanted;
    for (std::size_t k = 0; k < count; ++k) {
      diamonds.push_back(policy_.propose());
      const Diamond& d = diamonds.back();
      const bool apart = monitor_.flagged(pair_of(d));
      if (!apart) ++range_;
      for (const Coalition& c : d.corners) {
        if (apart) ++range_;
        wanted.push_back({.coalition = c, .range = range_});
        if (apart) std::tie(wanted.back().first, wanted.back().second) = pair_of(d);
      }
    }
    const std::size_t first = visitor_.make(std::move(wanted));
    take(first, 4 * count);
    for (std::size_t k = 0; k < count; ++k) watch(diamonds[k], first + 4 * k);
    if (!visitor_.repeats()) save();
  }

  // Counts the new visits and closes what is narrow enough.
  void take(std::size_t first, std::size_t count) {
    for (std::size_t k = first; k < first + count; ++k) {
      const Visit& visit = store_.visits()[k];
      policy_.visit(visit.coalition);
      if (plan_.paper.width == 0) continue;
      Spread& spread = spreads_[visit.coalition];
      for (const double x : visit.slices) spread.add(x);
      const double draws = static_cast<double>(plan_.paper.range_draws * policy_.visits(visit.coalition));
      if (spread.count > 1 && draws >= static_cast<double>(kFewestToClose) &&
          spread.half_width() < plan_.paper.width)
        policy_.close(visit.coalition);
    }
  }

  void watch(const Diamond& d, std::size_t first) {
    const auto& visits = store_.visits();
    if (visits[first].is_side()) return;
    std::array<std::span<const double>, 4> corners;
    for (std::size_t k = 0; k < 4; ++k) corners[k] = visits[first + k].slices;
    if (!monitor_.see(pair_of(d), corners)) return;
    fallbacks_.push_back(pair_of(d));
    if (visitor_.repeats()) return;  // it is in the log
    const auto [seen, saving] = monitor_.saving(pair_of(d));
    log_.push_back(
        fmt::format("A3 does not hold for {} and {}: after {} diamonds coupling saved a variance of {:.3g}; "
                    "from here on their corners are drawn apart",
                    plan_.players[pair_of(d).first], plan_.players[pair_of(d).second], seen, saving));
  }

  void save() {
    store_.save([&] {
      if (file_ == nullptr) return;
      for (const std::string& line : log_) file_->log(line);
    });
    log_.clear();
  }

  static A3Monitor::Pair pair_of(const Diamond& d) { return std::minmax(d.first, d.second); }

  const RunPlan& plan_;
  VisitStore& store_;
  Visitor& visitor_;
  RunFile* file_;
  PaperPolicy policy_;
  A3Monitor monitor_;
  std::uint64_t range_ = 0;
  std::unordered_map<Coalition, Spread, CoalitionHash> spreads_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> fallbacks_;
  std::vector<std::string> log_;
};

PaperResult finish(PaperLoop& loop, const Visitor& visitor, const VisitStore& store) {
  PaperResult result = loop.run();
  visitor.finish();
  result.visits = store.visits();
  return result;
}

}  // namespace

PaperResult run_paper(Game& game, const DrawPlan& draws, const RunPlan& plan, RunFile* file, Workers& workers,
                      Progress& progress) {
  VisitStore store(file, plan.players.size(), plan.paper.slices);
  Visitor visitor(&game, &draws, plan, store, &workers, &progress);
  PaperLoop loop(plan, store, visitor, file);
  PaperResult result = finish(loop, visitor, store);
  store.save([&] {
    if (file != nullptr) file->put_text("position", kDone);
  });
  return result;
}

PaperResult read_paper(RunFile& file, const RunPlan& plan) {
  VisitStore store(&file, plan.players.size(), plan.paper.slices);
  Visitor visitor(nullptr, nullptr, plan, store, nullptr, nullptr);
  PaperLoop loop(plan, store, visitor, nullptr);
  return finish(loop, visitor, store);
}

}  // namespace hifi
