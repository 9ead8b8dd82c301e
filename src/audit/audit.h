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
#include "core/parallel.h"
#include "core/progress.h"
#include "game/draws.h"
#include "game/table_game.h"
#include "loss/loss.h"
#include "masking/background.h"
#include "vocabulary/lattice_store.h"
#include "vocabulary/run_plan.h"

namespace hifi {

struct Shard {
  std::size_t index = 1;
  std::size_t count = 1;
};

// What a run will cost, told before it starts.
struct Forecast {
  std::uint64_t coalitions = 0;
  std::uint64_t draws = 0;        // per coalition
  std::uint64_t evaluations = 0;  // of this shard, before identical rows are removed
  std::uint64_t memory_bytes = 0;
  std::uint64_t run_file_bytes = 0;
  double seconds = 0;  // from a timed probe; informs the reader, never the plan
};

// What an audit works on. `background` is the table that the request names, if it names one.
struct AuditInputs {
  Table data;
  std::optional<Table> background;
  std::unique_ptr<Model> model;
};

class Audit {
 public:
  // Reads and checks everything. Throws Error: usage, input (does not fit), model (fails, is
  // non-deterministic or does not answer what --check-predictions says).
  Audit(const ExplainRequest& request, Shard shard, Workers& workers);
  // The same with inputs that are in memory already: for models that are functions of this program.
  Audit(const ExplainRequest& request, AuditInputs inputs, Shard shard, Workers& workers);

  const RunPlan& plan() const { return plan_; }
  const Forecast& forecast() const { return forecast_; }
  const Background& background() const { return background_; }
  const std::vector<std::string>& notes() const { return notes_; }
  std::uint64_t model_rows() const { return game_->model_rows(); }

  // Runs to the end; with a file, from its last saved state.
  LatticeState run(RunFile* file, Progress::Listener listener);

 private:
  void take(const ExplainRequest& request, AuditInputs inputs);
  void match_columns(const ExplainRequest& request, const Table& data);
  void probe(const ExplainRequest& request);
  void add_warnings();
  void make_plan(const ExplainRequest& request, Shard shard);
  std::string provenance(const ExplainRequest& request) const;

  Workers& workers_;
  std::unique_ptr<Model> model_;
  InputColumns columns_;
  Players players_;
  Frame instances_;
  std::vector<double> truth_;
  std::vector<std::uint32_t> clusters_;
  Background background_;
  std::unique_ptr<Loss> loss_;
  std::unique_ptr<TableGame> game_;
  std::unique_ptr<DrawPlan> draws_;
  std::string data_hash_;
  double seconds_per_row_ = 0;
  RunPlan plan_;
  Forecast forecast_;
  std::vector<Warning> warnings_;
  std::vector<std::string> notes_;
};

}  // namespace hifi
