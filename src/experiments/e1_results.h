// From the measurements of E1 to its tables and to what must be said of them.
#pragma once

#include <string>
#include <vector>

#include "experiments/e1_measure.h"
#include "experiments/experiment.h"

namespace hifi {

struct E1Model {
  CausalModel truth;
  E1Setup setup;
  Channels population;               // closed form
  std::vector<std::uint64_t> seeds;  // of the repetitions
  std::vector<E1Measurement> found;  // one per repetition
};

struct E1Data {
  std::vector<E1Model> models;  // XOR3, XOR+AND, Synth3
};

// (mean of |U_i|, |U_j|) + |S_ij| + |R_ij| over |phi_ij|, the mean over active pairs
// that were seen.
double conflation_ratio(const CausalModel& model, const Channels& channels, const std::vector<double>& phi);

ResultTable e1_networks(const E1Data& data);
ResultTable e1_conflation(const E1Data& data);
ResultTable e1_balance(const E1Data& data);
ResultTable e1_wilcoxon(const E1Data& data);
ResultTable e1_pearson(const E1Data& data);
ResultTable e1_spearman(const E1Data& data);
ResultTable e1_drift(const E1Data& data);
ResultTable e1_errors(const E1Data& data);
// Every number of every repetition, for the files.
std::vector<ResultTable> e1_raw(const E1Data& data);

std::vector<std::string> e1_notes(const E1Data& data);

}  // namespace hifi
