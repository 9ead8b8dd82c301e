// Experiment E1 of the paper: networks trained on three causal models whose truth is known, signed indices
// beside U, R, S.
#include <fmt/format.h>

#include <mutex>

#include "core/interrupt.h"
#include "core/random.h"
#include "experiments/e1_results.h"

namespace hifi {

namespace {

// A share of the whole work, about a tenth of a second each.
constexpr std::uint64_t kTrainBits = 6, kTrainNumbers = 60, kMeasureBits = 1, kMeasureNumbers = 60;

struct Job {
  const CausalModel* truth;
  E1Setup setup;
  std::uint64_t seed;
  Mlp* network;
};

// Largest first: the last ones to finish should be short.
void train_all(std::vector<Job>& jobs, Workers& workers, Progress& progress) {
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Job& a, const Job& b) { return !a.truth->binary && b.truth->binary; });
  std::mutex mutex;
  workers.parallel_for(jobs.size(), [&](std::size_t k) {
    check_interrupt();
    *jobs[k].network = e1_network(*jobs[k].truth, jobs[k].setup, jobs[k].seed);
    const std::lock_guard lock(mutex);
    progress.advance(jobs[k].truth->binary ? kTrainBits : kTrainNumbers);
  });
}

std::vector<std::string> setup_lines(const E1Data& data, const ExperimentOptions& options) {
  std::vector<std::string> lines;
  for (const E1Model& model : data.models) {
    lines.push_back(fmt::format("{:<8} {}", model.truth.name, model.truth.formula));
  }
  const E1Setup& bits = data.models.front().setup;
  const E1Setup& numbers = data.models.back().setup;
  lines.push_back(fmt::format(
      "networks two layers of weights, ReLU between, Adam on squared error: {} hidden units, "
      "{} rows, {} epochs (Synth3: {}, {}, {})",
      bits.hidden, bits.training_rows, bits.epochs, numbers.hidden, numbers.training_rows, numbers.epochs));
  lines.push_back(
      fmt::format("audits   squared loss, {} fresh instances, {} background rows; paper policy: {} "
                  "evaluations of (coalition, draw), Synth3 {}; exact: all pairs of rows",
                  bits.instances, bits.background, bits.budget, numbers.budget));
  lines.push_back(
      fmt::format("seeds    {} repetitions from seed {}; numbers are mean ± standard deviation over them",
                  options.seeds, options.seed));
  if (options.quick)
    lines.push_back(
        "QUICK    fewer instances, training rows and epochs than the experiment: to look at, not to quote");
  return lines;
}

}  // namespace

ExperimentResult run_e1(const ExperimentOptions& options, Workers& workers, Progress::Listener listener) {
  E1Data data;
  std::vector<std::uint64_t> seeds;
  constexpr std::uint64_t kSeeds = 1'000'000;  // a part that no sample has
  for (std::size_t s = 0; s < options.seeds; ++s)
    seeds.push_back(RandomStream(options.seed, Purpose::experiment_rows, kSeeds + s).next_u64() >> 1);
  for (CausalModel& truth : e1_models()) {
    const E1Setup setup = e1_setup(truth, options.quick);
    Channels population = channels_of(truth, truth.population_losses);
    data.models.push_back({std::move(truth), setup, std::move(population), seeds, {}});
  }
  std::vector<std::vector<Mlp>> networks(data.models.size(), std::vector<Mlp>(seeds.size()));
  std::vector<Job> jobs;
  std::uint64_t work = 0;
  for (std::size_t s = 0; s < seeds.size(); ++s) {
    for (std::size_t k = 0; k < data.models.size(); ++k) {
      const E1Model& model = data.models[k];
      jobs.push_back({&model.truth, model.setup, seeds[s], &networks[k][s]});
      work += model.truth.binary ? kTrainBits + kMeasureBits : kTrainNumbers + kMeasureNumbers;
    }
  }
  Progress progress(work, 0, std::move(listener));
  train_all(jobs, workers, progress);

  for (std::size_t k = 0; k < data.models.size(); ++k) {
    E1Model& model = data.models[k];
    for (std::size_t s = 0; s < seeds.size(); ++s) {
      check_interrupt();
      model.found.push_back(measure_e1(model.truth, model.setup, networks[k][s], seeds[s], workers));
      progress.advance(model.truth.binary ? kMeasureBits : kMeasureNumbers);
    }
  }

  ExperimentResult result{
      .key = "e1",
      .title = "Experiment E1: signed pair scores beside U, R, S on models with known truth",
      .setup = setup_lines(data, options),
      .tables = {e1_networks(data), e1_conflation(data), e1_balance(data), e1_wilcoxon(data),
                 e1_pearson(data), e1_spearman(data), e1_drift(data), e1_errors(data)},
      .notes = e1_notes(data)};
  for (ResultTable& table : e1_raw(data)) result.tables.push_back(std::move(table));
  return result;
}

}  // namespace hifi
