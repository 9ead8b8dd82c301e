// What signed pair scores say beside S and R: ratios, what they depend on, and tests.
#include <algorithm>
#include <cmath>

#include "experiments/e1_paper.h"
#include "experiments/e1_results.h"
#include "stats/wilcoxon.h"

namespace hifi {

namespace {

// Position of a pair among all, by position of its players.
std::size_t pair_position(std::size_t players, std::size_t i, std::size_t j) {
  return i * players - i * (i + 1) / 2 + j - i - 1;
}

// f(measurement) of every repetition.
template <typename F>
std::vector<double> each(const E1Model& model, const F& f) {
  std::vector<double> values;
  for (const E1Measurement& m : model.found) values.push_back(f(m));
  return values;
}

const std::array<double, 5>* paper_ratios(const CausalModel& model) {
  return model.key == "xor3"      ? &e1_paper::kRatioXor3
         : model.key == "xor_and" ? &e1_paper::kRatioXorAnd
                                  : nullptr;
}

std::size_t place_of(IndexKind kind) {
  const auto& kinds = e1_indices();
  return static_cast<std::size_t>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
}

const std::size_t kSii = place_of(IndexKind::shapley_interaction);

double mean_of_active(const CausalModel& model, const std::vector<double>& phi) {
  double sum = 0;
  for (const auto& [i, j] : model.active_pairs) sum += phi[pair_position(model.players, i, j)];
  return sum / static_cast<double>(model.active_pairs.size());
}

}  // namespace

double conflation_ratio(const CausalModel& model, const Channels& channels, const std::vector<double>& phi) {
  double sum = 0, seen = 0;
  for (const auto& [i, j] : model.active_pairs) {
    const std::size_t p = pair_position(model.players, i, j);
    if (std::isnan(channels.pair_S[p])) continue;
    ++seen;
    sum += ((std::abs(channels.U[i]) + std::abs(channels.U[j])) / 2 + std::abs(channels.pair_S[p]) +
            std::abs(channels.pair_R[p])) /
           phi[p];
  }
  return sum / seen;
}

ResultTable e1_conflation(const E1Data& data) {
  ResultTable table{.key = "conflation",
                    .title = "Conflation ratio (|U| + |S| + |R|) / |phi|, mean over active pairs",
                    .columns = {"model", "index", "paper", "|mean phi|, paper policy",
                                "mean |phi|, paper policy", "mean |phi|, exact", "mean |phi|, closed form"}};
  table.note =
      "phi: pair values at maximum order 2 of the network's prediction against 100 background rows. |mean "
      "phi| "
      "averages over the instances first, so that +1/4 and -1/4 cancel; mean |phi| does not. |U| of a pair "
      "is the "
      "mean of its two players.";
  for (const E1Model& model : data.models) {
    const auto ratio = [&](Channels E1Measurement::*channels, Averaging averaging, std::size_t index) {
      return ResultCell::over(each(model, [&](const E1Measurement& m) {
        return conflation_ratio(model.truth, m.*channels, average(m.phi, m.instances, averaging)[index]);
      }));
    };
    const auto* paper = paper_ratios(model.truth);
    for (std::size_t k = 0; k < e1_indices().size(); ++k) {
      ResultCell closed;
      if (model.truth.binary) {
        const PairIndices phi = true_indices(model.truth);
        const std::vector<double> uniform(phi[k].size(), 1 / static_cast<double>(phi[k].size()));
        closed =
            conflation_ratio(model.truth, model.population, average(phi, uniform, Averaging::absolute)[k]);
      }
      table.add({model.truth.name, index_name(e1_indices()[k]),
                 paper ? ResultCell((*paper)[k]) : ResultCell(),
                 ratio(&E1Measurement::paper_plugin, Averaging::signed_mean, k),
                 ratio(&E1Measurement::paper_plugin, Averaging::absolute, k),
                 ratio(&E1Measurement::exact, Averaging::absolute, k), closed});
    }
  }
  return table;
}

ResultTable e1_balance(const E1Data& data) {
  const E1Model& model = data.models.front();
  ResultTable table{.key = "balance",
                    .title = "XOR3: what |mean phi| of SII depends on, the same networks throughout",
                    .columns = {"instances", "|mean phi|", "smallest ratio by it", "largest ratio by it",
                                "mean |phi|", "ratio by mean |phi|"}};
  table.note =
      "Smallest and largest: over the seeds; a ratio to something around 0 has no expectation. U, S and R "
      "are those of "
      "exact mode. With all 16 rows as instances and as background the mean of phi is 0 for every function "
      "of the "
      "columns, because every coalition then has the same mean prediction: |mean phi| measures how "
      "unbalanced the rows "
      "are, not the model.";
  const auto row = [&](const std::string& name, PairIndices E1Measurement::*phi, const auto& weights_of) {
    constexpr double kRounding = 1e-12;
    std::vector<double> cancelled, cancelled_ratio, kept, kept_ratio;
    for (std::size_t s = 0; s < model.found.size(); ++s) {
      const E1Measurement& m = model.found[s];
      const std::vector<double> weights = weights_of(s);
      const auto signed_mean = average(m.*phi, weights, Averaging::signed_mean)[kSii];
      const auto absolute = average(m.*phi, weights, Averaging::absolute)[kSii];
      cancelled.push_back(mean_of_active(model.truth, signed_mean));
      kept.push_back(mean_of_active(model.truth, absolute));
      cancelled_ratio.push_back(conflation_ratio(model.truth, m.exact, signed_mean));
      kept_ratio.push_back(conflation_ratio(model.truth, m.exact, absolute));
    }
    const bool nothing = *std::max_element(cancelled.begin(), cancelled.end()) < kRounding;
    const auto [least, most] = std::minmax_element(cancelled_ratio.begin(), cancelled_ratio.end());
    table.add({name, nothing ? ResultCell("0 but for rounding") : ResultCell::over(cancelled),
               nothing ? ResultCell("no limit") : ResultCell(*least),
               nothing ? ResultCell("no limit") : ResultCell(*most), ResultCell::over(kept),
               ResultCell::over(kept_ratio)});
  };
  constexpr std::uint64_t kPart = 10;  // of the seed: rows for this table alone
  for (const std::size_t rows : {50, 200, 1000, 10000}) {
    row(std::to_string(rows) + " random", &E1Measurement::phi, [&](std::size_t s) {
      return pattern_weights(model.truth, draw_sample(model.truth, rows, model.seeds[s], kPart + rows));
    });
  }
  const std::vector<double> balanced(std::size_t{1} << model.truth.players,
                                     std::exp2(-static_cast<double>(model.truth.players)));
  row("all 16", &E1Measurement::phi, [&](std::size_t) { return balanced; });
  row("all 16, and as background", &E1Measurement::phi_uniform, [&](std::size_t) { return balanced; });
  return table;
}

ResultTable e1_wilcoxon(const E1Data& data) {
  ResultTable table{.key = "wilcoxon",
                    .title = "Wilcoxon signed-rank, one-sided: |S + R| > |phi|, paper policy, p-values",
                    .columns = {"model", "index", "paper", "by pair, |mean phi|", "by pair, mean |phi|",
                                "by seed, |mean phi|", "by seed, mean |phi|", "shift"}};
  table.note =
      "By pair: six pairs of every seed as units. They share a network and a vocabulary, so that the seeds "
      "are the "
      "independent units; with them the smallest p that can occur is 2^-seeds. Shift: Hodges-Lehmann over "
      "seeds, mean "
      "|phi|.";
  for (const E1Model& model : data.models) {
    if (paper_ratios(model.truth) == nullptr) continue;  // the paper has no test on Synth3
    for (std::size_t k = 0; k < e1_indices().size(); ++k) {
      const auto differences = [&](Averaging averaging, bool by_seed) {
        std::vector<double> result;
        for (const E1Measurement& m : model.found) {
          const auto phi = average(m.phi, m.instances, averaging)[k];
          double sum = 0;
          for (std::size_t p = 0; p < phi.size(); ++p) {
            const double d = std::abs(m.paper_plugin.pair_S[p] + m.paper_plugin.pair_R[p]) - phi[p];
            if (std::isnan(d)) continue;  // a pair that the policy never saw
            if (!by_seed) result.push_back(d);
            sum += d / static_cast<double>(phi.size());
          }
          if (by_seed) result.push_back(sum);
        }
        return result;
      };
      const auto p_value = [&](Averaging averaging, bool by_seed) {
        const auto test = wilcoxon(differences(averaging, by_seed), {.alternative = Alternative::greater});
        return test ? ResultCell(test->p) : ResultCell();
      };
      const auto shift = hodges_lehmann(differences(Averaging::absolute, true), .95);
      table.add({model.truth.name, index_name(e1_indices()[k]), e1_paper::kWilcoxon,
                 p_value(Averaging::signed_mean, false), p_value(Averaging::absolute, false),
                 p_value(Averaging::signed_mean, true), p_value(Averaging::absolute, true),
                 shift ? ResultCell(shift->estimate) : ResultCell()});
    }
  }
  return table;
}

}  // namespace hifi
