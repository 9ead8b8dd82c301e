// What is measured on one causal model with one seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/parallel.h"
#include "experiments/e1_scm.h"
#include "experiments/mlp.h"
#include "hifi/profile.h"
#include "indices/kind.h"

namespace hifi {

// Sizes of the experiment. Where the paper is silent they are ours.
struct E1Setup {
  std::size_t instances = 200;
  std::size_t background = 100;  // the paper's
  std::size_t test_rows = 2000;
  std::size_t hidden = 0;
  std::size_t training_rows = 0;
  std::size_t epochs = 0;
  std::size_t batch = 0;
  double learning_rate = 0;
  std::uint64_t budget = 0;  // evaluations of the paper's policy, the paper's
};
E1Setup e1_setup(const CausalModel& model, bool quick);

// The five channels of a profile: one number per player, one per pair by position; NaN where the policy saw
// no context.
struct Channels {
  std::vector<double> U, R, S, pair_S, pair_R;
};
// Extremes as they are, or corrected for noise.
enum class Reading { plugin, value };
Channels channels_of(const Profile& profile, Reading reading);
// Of losses without noise, by mask.
Channels channels_of(const CausalModel& model, const std::vector<double>& losses);

// The baselines of the paper, pairs at maximum order 2.
const std::vector<IndexKind>& e1_indices();

// phi[index][row][pair] of the prediction function at some rows.
using PairIndices = std::vector<std::vector<std::vector<double>>>;
// |mean phi| or mean |phi| over the rows, by index and pair; `weights` of the rows add up to 1.
enum class Averaging { signed_mean, absolute };
std::vector<std::vector<double>> average(const PairIndices& phi, const std::vector<double>& weights,
                                         Averaging averaging);

struct E1Measurement {
  double training_error = 0;  // mean squared
  double test_error = 0;
  Channels oracle;                // the true mean on the given rows, all pairs of rows
  Channels exact;                 // the network on the same
  Channels paper_plugin;          // the paper's policy at its budget
  Channels paper_value;           // the same, corrected
  Channels paper_again;           // another seed of the policy
  Channels exact_other;           // the network under the other background, all pairs
  Channels paper_other;           // the same by the paper's policy
  PairIndices phi;                // of the rows below
  std::vector<double> instances;  // weight of each row of phi in the instances
  PairIndices phi_uniform;        // bits only: against all rows of bits, each once
};

// The network of a seed. May be called from several threads at once.
Mlp e1_network(const CausalModel& model, const E1Setup& setup, std::uint64_t seed);

E1Measurement measure_e1(const CausalModel& model, const E1Setup& setup, const Mlp& network,
                         std::uint64_t seed, Workers& workers);

// phi of the true mean at all rows of bits against the uniform background. REQUIRES: a binary model
PairIndices true_indices(const CausalModel& model);
// Shares of the rows of bits in a sample.
std::vector<double> pattern_weights(const CausalModel& model, const Sample& sample);

}  // namespace hifi
