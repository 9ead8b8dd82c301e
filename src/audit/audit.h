// An audit made ready: model, data and background opened and checked, the plan fixed.
//
// The same object serves `plan` (look at it), `explain` (run it) and `resume` (compare its plan with the one
// in the run file, then run it).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audit/request.h"
#include "audit/run_result.h"
#include "audit/subject.h"
#include "core/parallel.h"
#include "core/progress.h"
#include "game/draws.h"
#include "sampling/budget.h"
#include "vocabulary/lattice_store.h"
#include "vocabulary/run_plan.h"

namespace hifi {

struct Shard {
  std::size_t index = 1;
  std::size_t count = 1;
};

// What a run will cost, told before it starts.
struct Forecast {
  std::uint64_t evaluations = 0;  // of this shard at most, before identical rows are removed
  std::uint64_t memory_bytes = 0;
  std::uint64_t run_file_bytes = 0;
  double seconds = 0;  // from a timed probe; informs the reader, never the plan
};

// The widest interval that is allowed.
struct Precision {
  double width = 0;
  bool relative = false;  // a share of L({}) - L(all)

  // "0.05" or "2%". Throws Error(usage) naming --precision.
  static Precision parse(const std::string& text);
  bool is_met(const Profile& profile) const;
};

// Where an interrupted run stands, as its plan says.
struct Resumed {
  std::size_t look = 0;
  std::optional<std::uint64_t> evaluations;  // what a time was taken for
};

class Audit {
 public:
  // Reads and checks everything. Throws Error: usage, input (does not fit), model (fails, is
  // non-deterministic or does not answer what --check-predictions says).
  Audit(const ExplainRequest& request, Shard shard, Workers& workers, const Resumed& resumed = {});
  // The same with inputs that are in memory already: for models that are functions of this program.
  Audit(const ExplainRequest& request, AuditInputs inputs, Shard shard, Workers& workers);

  const RunPlan& plan() const { return plan_; }
  const std::optional<Precision>& precision() const { return precision_; }
  const Forecast& forecast() const { return forecast_; }
  const std::string& description() const { return subject_.description; }  // lines of the plan
  const std::vector<std::string>& notes() const { return subject_.notes; }
  std::optional<double> off_distribution() const {
    return subject_.off_distribution ? subject_.off_distribution() : std::nullopt;
  }
  ModelUse model_use() const { return subject_.game->model_use(); }

  // Runs to the end; with a file, from its last saved state.
  RunResult run(RunFile* file, Progress::Listener listener);
  // Gives back what its threads worked in: other audits follow.
  void rest();

 private:
  Audit(const ExplainRequest& request, Subject subject, Shard shard, Workers& workers,
        const Resumed& resumed);
  void describe(const ExplainRequest& request);
  std::uint64_t default_budget(const ExplainRequest& request) const;
  std::uint64_t evaluations(const ExplainRequest& request, const DrawOptions& draws);
  void plan_lattice(const Budget& budget, DrawOptions draws, std::size_t look);
  void take_draws(const DrawOptions& draws);
  std::uint64_t look_draws(std::size_t look) const;
  bool next_look(LatticeState& state);
  void plan_search(const Budget& budget, DrawOptions draws);
  void plan_paper(const Budget& budget, DrawOptions draws);
  CellDraws instance_draws(std::uint32_t row) const;
  void take_blocks(DrawPlan::Weights weights);
  RunResult run_lattice(RunFile* file, Progress::Listener listener);

  Workers& workers_;
  Subject subject_;
  std::unique_ptr<DrawPlan> draws_;  // of a lattice, or of the paper's policy
  SearchDraws cell_draws_;           // of a search
  DrawOptions draw_options_;
  DrawOptions instance_draws_;    // of one instance of a searched run
  std::uint64_t most_draws_ = 0;  // that the budget pays for
  std::optional<Precision> precision_;
  RunPlan plan_;
  Forecast forecast_;
};

}  // namespace hifi
