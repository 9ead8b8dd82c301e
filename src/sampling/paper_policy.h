// The paper's policy (section 4 and appendix G): with probability epsilon a uniform coalition, else one of
// the vocabulary with probability proportional to exp(-beta visits) among those not yet converged; expanded
// into a diamond C, C+i, C+j, C+ij of a random pair. The paper gives epsilon = 0.2 and says that beta anneals
// toward 0, not how; here beta_t = beta / (1 + t / anneal_steps).
//
// The policy only proposes: what is evaluated, on which draws, and what has converged, is told to it by the
// caller.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/random.h"
#include "hifi/coalition.h"
#include "sampling/search.h"

namespace hifi {

struct PaperOptions {
  std::size_t players = 0;  // at least 2
  std::uint64_t seed = 0;
  double epsilon = .2;
  double beta = 1;
  double anneal_steps = 1000;
  bool forced_ends = true;  // {i} and full minus i of all players beside {} and full
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // to choose from; empty: all
};

struct Diamond {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::array<Coalition, 4> corners;  // C, C + first, C + second, C + both
};

class PaperPolicy {
 public:
  explicit PaperPolicy(const PaperOptions& options);

  // What to visit before the first proposal.
  std::vector<Coalition> forced() const;

  Diamond propose();

  // The caller visited the coalition once more; the first visit puts it into the vocabulary.
  void visit(const Coalition& coalition);
  // It has converged and is drawn no more. REQUIRES: visited
  void close(const Coalition& coalition);

  std::size_t open() const { return open_; }
  std::uint64_t visits(const Coalition& coalition) const;
  double beta() const;  // of the next proposal

 private:
  struct Entry {
    std::uint64_t visits = 0;
    std::size_t place = 0;  // in its bucket
    bool closed = false;
  };
  Coalition draw_uniform();
  Coalition draw_least_visited();
  void remove(std::uint32_t entry);

  PaperOptions options_;
  RandomStream random_;
  std::uint64_t step_ = 0;
  std::size_t open_ = 0;
  std::vector<Coalition> coalitions_;
  std::vector<Entry> entries_;
  std::unordered_map<Coalition, std::uint32_t, CoalitionHash> find_;
  std::map<std::uint64_t, std::vector<std::uint32_t>> buckets_;  // open entries by visits
};

struct PaperRun {
  std::vector<Coalition> coalitions;  // in the order of evaluation
  std::vector<double> losses;
};

// The policy on losses without noise, beside search_coalitions: the same evaluator, at most `budget`
// coalitions, each evaluated once however often it is visited.
PaperRun run_paper_policy(const PaperOptions& options, std::size_t budget,
                          const EvaluateCoalitions& evaluate);

}  // namespace hifi
