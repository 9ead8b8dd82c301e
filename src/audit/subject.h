// What an audit is about, opened and checked: a game, how many draws it has, and what must be said of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audit/request.h"
#include "core/parallel.h"
#include "data/table.h"
#include "game/game.h"
#include "hifi/profile.h"
#include "model/model.h"

namespace hifi {

struct Subject {
  std::shared_ptr<void> parts;  // what the game stands on
  Game* game = nullptr;
  std::vector<std::string> players;

  std::string loss;
  std::string measure = "loss";
  std::string expected = "loss";
  std::optional<double> loss_range;  // of a bounded loss
  double tie_tolerance = 0;
  std::size_t batch_rows = 0;

  // Draws are pairs of an instance and a background row.
  std::size_t instances = 0;
  std::size_t background_rows = 1;
  bool background_is_data = false;
  bool background_fixed = true;     // no sample of anything
  bool background_product = false;  // a sample of more pairs than can be enumerated
  std::vector<std::uint32_t> clusters;

  std::uint64_t bytes = 0;         // held by the parts
  std::uint64_t engine_bytes = 0;  // of an engine that knows whole lattices, at most; 0: the row engine
  // Held while whole lattices are run, where it is not that of a unit of rows.
  std::uint64_t lattice_bytes = 0;
  // Takes what the plan leaves of --max-memory for more threads, and returns how much it took. The plan does
  // not depend on it, so that results do not depend on threads.
  std::function<std::uint64_t(std::uint64_t room, std::size_t threads)> use_room;
  double seconds_per_row = 0;
  std::string description;  // lines for the plan: model, data, background
  std::vector<Warning> warnings;
  std::vector<std::string> notes;
  std::string provenance;  // JSON
  // How far masked rows are from the data (masking/off_distribution.h); none for games without rows.
  std::function<std::optional<double>()> off_distribution;
};

// What a table audit works on. `background` is the table that the request names, if it names one.
struct AuditInputs {
  Table data;
  std::optional<Table> background;
  std::unique_ptr<Model> model;
};

// Read and check everything that the request names. Throw Error: usage, input (does not fit), model (fails,
// is non-deterministic or does not answer what --check-predictions says).
Subject open_subject(const ExplainRequest& request, Workers& workers);
Subject table_subject(const ExplainRequest& request, AuditInputs inputs);
Subject planted_subject(const ExplainRequest& request, const std::string& path);
Subject circuit_subject(const ExplainRequest& request, Workers& workers);

}  // namespace hifi
