// The three structural causal models of experiment E1, with their truth in closed form.
//
// The paper gives no constants; ours are those of ARCHITECTURE.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "data/table.h"
#include "experiments/binary_game.h"

namespace hifi {

struct CausalModel {
  std::string key;   // xor3, xor_and, synth3
  std::string name;  // for people
  std::string formula;
  std::size_t players = 0;
  bool binary = false;  // fair, independent bits
  std::function<void(RandomStream&, std::span<double>)> sample;
  std::function<double(std::span<const double>)> mean;  // of y, given a row
  double noise = 0;                                     // standard deviation of y around its mean

  // L(S) under squared loss when the predictor is `mean` and the background an independent copy of the rows.
  std::vector<double> population_losses;
  // Pairs that take part in an interaction.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> active_pairs;

  std::vector<std::string> columns() const;  // x1 .. xn
};

// The true mean on bits, for enumeration. REQUIRES: a binary model
BinaryModel binary_model(const CausalModel& model);

CausalModel xor3_model();
CausalModel xor_and_model();
CausalModel synth3_model();
std::vector<CausalModel> e1_models();

// Rows and their truth.
struct Sample {
  std::size_t width = 0;
  std::vector<double> rows;     // row-major
  std::vector<double> targets;  // with noise

  std::size_t size() const { return targets.size(); }
  // Columns x1 .. xn and y.
  Table table(const std::string& source) const;
};

// `part` keeps training rows, instances and background apart.
Sample draw_sample(const CausalModel& model, std::size_t rows, std::uint64_t seed, std::uint64_t part);
// The 2^n rows of bits, each once. REQUIRES: a binary model
Sample all_patterns(const CausalModel& model);
// Each column in an order of its own: the same marginals, no dependence.
Sample permuted_columns(const Sample& sample, std::uint64_t seed);

// Who has which role, as 0 and 1: what the paper compares Synth3 with. Pairs by position.
struct Roles {
  std::vector<double> U, R, S, pair_S, pair_R;
};
Roles synth3_roles();

}  // namespace hifi
