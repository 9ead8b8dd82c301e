// All that defines a run, as it is stored in the run file and needed to analyse it without the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hifi/profile.h"

namespace hifi {

// What a population interval takes as independent observations.
enum class Population {
  rows,       // the background is the data: a block of rows acts on both sides
  both,       // instances and background rows, each for itself
  instances,  // the background is fixed
  draws,      // no instance and no background row repeats
};

// Runs that do not see every coalition.
struct SearchPlan {
  std::size_t coalitions = 0;  // at most
  std::uint64_t draws = 0;     // per coalition
  // Contexts that were chosen by their losses look better than they are: a split run measures them again, on
  // other rows. Otherwise the cells of the search are reported.
  bool split = false;
  std::size_t reported = 0;  // coalitions measured again, at most
  double sigma = 0;          // standard error of a mean loss that coalitions do not share

  // Of each instance, if they are profiled too: on the first of the reported coalitions.
  std::size_t instance_coalitions = 0;
  std::vector<std::uint64_t> instance_weights;  // draws per block of background rows
  bool instance_exact = false;                  // against all of them
};

// Runs of the paper's policy.
struct PaperPlan {
  std::uint64_t evaluations = 0;  // at most
  std::uint64_t range_draws = 0;  // of one visit
  std::uint64_t ranges = 0;       // that all pairs make; visits beyond wrap around
  std::size_t slices = 0;         // equal parts of a range, for its noise
  double width = 0;               // a coalition whose half-width is below this is visited no more; 0: none
};

struct RunPlan {
  std::string version;  // of hifi
  std::vector<std::string> players;
  std::string loss;
  std::string measure = "loss";
  std::string expected = "loss";

  std::string options;     // the request as JSON text, to resume it
  std::string provenance;  // JSON text: seed, model, data, background with their hashes

  std::string policy = "exhaustive";  // or search, paper, images
  std::uint64_t seed = 0;
  std::uint64_t evaluations = 0;  // that the budget allows
  std::size_t look = 0;  // of a run that stops at a precision: draws double from look 1 on; 0: another run
  bool per_instance = false;  // a lattice of each instance, too
  SearchPlan search;          // policy search
  PaperPlan paper;            // policy paper

  // Of the cells that are reported.
  std::uint64_t draws = 0;
  bool exact = false;
  std::size_t instance_blocks = 0;
  std::size_t background_blocks = 0;
  std::size_t round_blocks = 0;
  std::vector<std::uint64_t> instance_weights;  // draws per block
  std::vector<std::uint64_t> background_weights;
  std::vector<std::uint64_t> round_weights;
  std::uint64_t rows = 0;       // of the data
  std::uint64_t instances = 0;  // of the cells that are reported
  std::uint64_t pairs = 0;      // of instance and background row; 0: more than can be enumerated
  Population population = Population::rows;
  std::size_t batch_rows = 0;
  double tie_tolerance = 0;
  std::optional<double> loss_range;  // of a bounded loss
  std::string interval;
  double confidence = 0.95;
  std::vector<Warning> warnings;

  std::size_t shard = 1;  // from 1
  std::size_t shards = 1;

  // The instance blocks of this shard: [begin, end).
  std::size_t begin_block() const { return instance_blocks * (shard - 1) / shards; }
  std::size_t end_block() const { return instance_blocks * shard / shards; }

  // Images of this shard, of a run of images: [begin, end).
  std::size_t begin_image() const { return rows * (shard - 1) / shards; }
  std::size_t end_image() const { return rows * shard / shards; }

  // The level of the intervals: a run that looks several times spends alpha over its looks.
  double alpha() const;

  std::string to_json() const;
  // `place` is named in Error(input) if the text is no valid plan.
  static RunPlan from_json(const std::string& text, const std::string& place);

  // The name of a field in which two plans differ, with both values ("seed: 1 and 2"), or empty. The
  // shard and the paths of files are not compared.
  static std::string difference(const RunPlan& a, const RunPlan& b);
};

}  // namespace hifi
