// How well roles are found on Synth3, what the background does, and where errors come from.
#include <algorithm>
#include <cmath>
#include <functional>

#include "experiments/e1_paper.h"
#include "experiments/e1_results.h"
#include "stats/correlation.h"

namespace hifi {

namespace {

struct Channel {
  const char* name;
  std::vector<double> Channels::*found;
  std::vector<double> Roles::*role;
};

const std::vector<Channel>& all_channels() {
  static const std::vector<Channel> list = {{"U", &Channels::U, &Roles::U},
                                            {"R", &Channels::R, &Roles::R},
                                            {"S", &Channels::S, &Roles::S},
                                            {"S of pairs", &Channels::pair_S, &Roles::pair_S},
                                            {"R of pairs", &Channels::pair_R, &Roles::pair_R}};
  return list;
}

using Correlate = std::optional<Correlation> (*)(std::span<const double>, std::span<const double>);

ResultCell correlations(const E1Model& model, Channels E1Measurement::*source, const Channel& channel,
                        Correlate correlate) {
  const Roles roles = synth3_roles();
  std::vector<double> values;
  for (const E1Measurement& m : model.found) {
    std::vector<double> found, role;  // without pairs that the policy never saw
    for (std::size_t k = 0; k < (roles.*(channel.role)).size(); ++k) {
      if (std::isnan(((m.*source).*(channel.found))[k])) continue;
      found.push_back(((m.*source).*(channel.found))[k]);
      role.push_back((roles.*(channel.role))[k]);
    }
    if (const auto r = correlate(found, role)) values.push_back(r->value);
  }
  return ResultCell::over(values);
}

std::vector<ResultCell> recovery_row(const E1Model& model, const Channel& channel, ResultCell paper,
                                     Correlate correlate) {
  const auto population = correlate(model.population.*(channel.found), synth3_roles().*(channel.role));
  return {channel.name,
          std::move(paper),
          correlations(model, &E1Measurement::paper_plugin, channel, correlate),
          correlations(model, &E1Measurement::paper_value, channel, correlate),
          correlations(model, &E1Measurement::exact, channel, correlate),
          correlations(model, &E1Measurement::oracle, channel, correlate),
          population ? ResultCell(population->value) : ResultCell()};
}

const std::vector<std::string> kRecoveryColumns = {
    "channel", "paper", "paper policy", "the same, corrected", "exact", "true function", "population"};

// |a - b| of every player or pair that has both, all repetitions.
void add_differences(const std::vector<double>& a, const std::vector<double>& b, std::vector<double>& out) {
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (std::isfinite(a[k] - b[k])) out.push_back(std::abs(a[k] - b[k]));
  }
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double x : values) sum += x / static_cast<double>(values.size());
  return sum;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// Drifts of one channel: absolute ones from three comparisons, and relative ones where there is something to
// relate them to.
struct Drifts {
  std::vector<double> exact, paper, again, relative;

  void add(const E1Model& model, std::vector<double> Channels::*channel) {
    constexpr double kWorthRelating = .05;
    for (const E1Measurement& m : model.found) {
      const auto &before = m.exact.*channel, &after = m.exact_other.*channel;
      add_differences(before, after, exact);
      add_differences(m.paper_plugin.*channel, m.paper_other.*channel, paper);
      add_differences(m.paper_plugin.*channel, m.paper_again.*channel, again);
      for (std::size_t k = 0; k < before.size(); ++k) {
        if (std::abs(before[k]) > kWorthRelating)
          relative.push_back(std::abs(after[k] - before[k]) / std::abs(before[k]));
      }
    }
  }
};

}  // namespace

ResultTable e1_pearson(const E1Data& data) {
  ResultTable table{.key = "recovery_pearson",
                    .title = "Synth3: Pearson correlation with the 0/1 roles",
                    .columns = kRecoveryColumns};
  table.note =
      "True function: the formula in place of the network, on the same rows, exact. Population: its profile "
      "in "
      "closed form, what an estimate without any error gets.";
  for (std::size_t k = 0; k < all_channels().size(); ++k) {
    const auto& paper = e1_paper::kRecovery[k];
    table.add(
        recovery_row(data.models.back(), all_channels()[k], {paper.pearson, paper.pearson_sd}, pearson));
  }
  return table;
}

ResultTable e1_spearman(const E1Data& data) {
  ResultTable table{
      .key = "recovery_spearman",
      .title = "Synth3: Spearman correlation with the 0/1 roles, and the most that is attainable",
      .columns = kRecoveryColumns};
  table.columns.push_back("ceiling");
  table.note =
      "Ceiling: numbers without ties that rank every 1 above every 0. Exact ties, as in the population, may "
      "lie "
      "above it.";
  for (std::size_t k = 0; k < all_channels().size(); ++k) {
    const auto& paper = e1_paper::kRecovery[k];
    auto row =
        recovery_row(data.models.back(), all_channels()[k], {paper.spearman, paper.spearman_sd}, spearman);
    row.push_back(spearman_ceiling(synth3_roles().*(all_channels()[k].role)));
    table.add(std::move(row));
  }
  return table;
}

ResultTable e1_drift(const E1Data& data) {
  ResultTable table{.key = "drift",
                    .title = "Mean |change| of U, R, S between two backgrounds",
                    .columns = {"models", "channel", "paper", "exact", "paper policy",
                                "same background again", "relative, paper", "relative, exact"}};
  table.note =
      "Bits: the empirical rows and all 16 rows of bits. Synth3: the empirical rows and the same with each "
      "column "
      "permuted, because a uniform-binary background of real numbers is not defined. Same background again: "
      "the "
      "paper's policy with another seed, what its noise alone does. Relative: the median, exact, of values "
      "above "
      ".05.";
  constexpr std::size_t kChannels = 3;
  for (std::size_t k = 0; k <= data.models.size(); ++k) {
    const bool pooled = k == data.models.size();
    for (std::size_t c = 0; c < kChannels; ++c) {
      Drifts drifts;
      for (const E1Model& model : data.models) {
        if (pooled || &model == &data.models[k]) drifts.add(model, all_channels()[c].found);
      }
      ResultCell paper;
      if (pooled) paper = e1_paper::kDriftPooled[c];
      if (!pooled && data.models[k].truth.key == "synth3") paper = e1_paper::kDriftSynth3[c];
      table.add({pooled ? "all" : data.models[k].truth.name, all_channels()[c].name, paper,
                 mean(drifts.exact), mean(drifts.paper), mean(drifts.again),
                 pooled ? ResultCell(e1_paper::kDriftRelative[c]) : ResultCell(),
                 drifts.relative.empty() ? ResultCell() : ResultCell(median(drifts.relative))});
    }
  }
  return table;
}

ResultTable e1_errors(const E1Data& data) {
  ResultTable table{
      .key = "errors",
      .title = "Where errors come from: mean |difference| at each step",
      .columns = {"model", "channel", "rows", "network", "Monte Carlo", "the same, corrected", "all"}};
  table.note =
      "Rows: the true function on the instances and background rows against its population. Network: the "
      "network "
      "against the true function on the same rows, exact. Monte Carlo: the paper's policy against exact. "
      "All: the "
      "paper's policy against the population.";
  for (const E1Model& model : data.models) {
    for (const Channel& channel : all_channels()) {
      std::vector<double> rows, network, noise, corrected, all;
      for (const E1Measurement& m : model.found) {
        const auto found = channel.found;
        add_differences(m.oracle.*found, model.population.*found, rows);
        add_differences(m.exact.*found, m.oracle.*found, network);
        add_differences(m.paper_plugin.*found, m.exact.*found, noise);
        add_differences(m.paper_value.*found, m.exact.*found, corrected);
        add_differences(m.paper_plugin.*found, model.population.*found, all);
      }
      table.add({model.truth.name, channel.name, mean(rows), mean(network), mean(noise), mean(corrected),
                 mean(all)});
    }
  }
  return table;
}

}  // namespace hifi
