#include "experiments/e1_measure.h"

#include <cmath>
#include <limits>
#include <memory>

#include "audit/audit.h"
#include "audit/profile.h"
#include "decomposition/scan.h"
#include "experiments/binary_game.h"
#include "indices/indices.h"

namespace hifi {

namespace {

// Parts of a seed.
constexpr std::uint64_t kTraining = 0, kTest = 1, kInstances = 2, kBackground = 3;

// The truth as a model.
class Oracle : public Model {
 public:
  explicit Oracle(const CausalModel& truth) : truth_(truth) {
    info_.path = truth.key;
    info_.format = "function";
    info_.task = Task::regression;
    info_.width = truth.players;
    info_.columns = truth.columns();
  }
  const ModelInfo& info() const override { return info_; }
  void predict(std::span<const double> rows, std::size_t count, std::span<double> out) const override {
    for (std::size_t r = 0; r < count; ++r) out[r] = truth_.mean(rows.subspan(r * info_.width, info_.width));
  }

 private:
  const CausalModel& truth_;
  ModelInfo info_;
};

// Of the values of all sets up to size 2.
std::vector<double> pairs_of(const std::vector<double>& values, std::size_t players) {
  return {values.begin() + static_cast<std::ptrdiff_t>(players), values.end()};
}

// One causal model with the rows of one seed: every audit is the product's own.
class Bench {
 public:
  Bench(const CausalModel& truth, const E1Setup& setup, std::uint64_t seed, Workers& workers)
      : truth_(truth),
        setup_(setup),
        seed_(seed),
        workers_(workers),
        instances_(draw_sample(truth, setup.instances, seed, kInstances)),
        background_(draw_sample(truth, setup.background, seed, kBackground)) {}

  const Sample& instances() const { return instances_; }

  // Fair bits have a natural second background; for numbers it is their product of marginals.
  enum class Masking { empirical, other };

  Profile exact(std::unique_ptr<Model> model, Masking masking) {
    ExplainRequest request = losses();
    request.exact = true;
    return profile(request, std::move(model), masking);
  }

  Profile paper(std::unique_ptr<Model> model, Masking masking, std::uint64_t seed) {
    ExplainRequest request = losses();
    request.policy = "paper";
    request.budget = setup_.budget;
    request.seed = seed;
    return profile(request, std::move(model), masking);
  }

  PairIndices indices(std::unique_ptr<Model> model, const Sample& rows, Masking masking) {
    const ExplainRequest request{.model = "network",
                                 .data = "rows",
                                 .loss = "prediction",
                                 .exact = true,
                                 .per_instance = true,
                                 .seed = seed_};
    Audit audit = open(request, rows, std::move(model), masking);
    const RunResult result = audit.run(nullptr, {});
    const std::size_t n = truth_.players;
    const IndexSet set(e1_indices(), n, 2);
    PairIndices phi(set.size(), std::vector<std::vector<double>>(rows.size()));
    for (const InstanceCells& instance : result.instances) {
      const auto values = set.evaluate(instance.cells.means());
      for (std::size_t k = 0; k < set.size(); ++k) phi[k][instance.row] = pairs_of(values[k], n);
    }
    return phi;
  }

 private:
  ExplainRequest losses() const {
    return {.model = "network", .data = "rows", .target = "y", .loss = "squared", .seed = seed_};
  }

  Audit open(ExplainRequest request, const Sample& rows, std::unique_ptr<Model> model, Masking masking) {
    AuditInputs inputs{.data = rows.table("rows"), .model = std::move(model)};
    request.background = "background";
    if (masking == Masking::empirical) {
      inputs.background = background_.table("background");
    } else if (truth_.binary) {
      request.background = "uniform-binary";
    } else {
      inputs.background = permuted_columns(background_, seed_).table("background");
    }
    return Audit(request, std::move(inputs), {}, workers_);
  }

  Profile profile(const ExplainRequest& request, std::unique_ptr<Model> model, Masking masking) {
    Audit audit = open(request, instances_, std::move(model), masking);
    const RunResult result = audit.run(nullptr, {});
    return make_profile(audit.plan(), result, "all", workers_);
  }

  const CausalModel& truth_;
  const E1Setup& setup_;
  std::uint64_t seed_;
  Workers& workers_;
  Sample instances_;
  Sample background_;
};

}  // namespace

E1Setup e1_setup(const CausalModel& model, bool quick) {
  E1Setup setup;
  setup.hidden = model.binary ? 32 : 128;
  setup.training_rows = model.binary ? 1000 : 8000;
  setup.epochs = 100;
  setup.batch = model.binary ? 100 : 128;
  setup.learning_rate = model.binary ? .01 : .003;
  setup.budget = model.binary ? 5000 : 30000;
  if (quick) {
    setup.instances = 20;
    setup.training_rows = model.binary ? 1000 : 2000;
    setup.epochs = 30;
  }
  return setup;
}

Channels channels_of(const Profile& profile, Reading reading) {
  const auto number = [&](const Quantity& q) {
    return (reading == Reading::plugin ? q.plugin : q.value)
        .value_or(std::numeric_limits<double>::quiet_NaN());
  };
  Channels channels;
  for (const FeatureProfile& f : profile.features) {
    channels.U.push_back(number(f.U));
    channels.R.push_back(number(f.R));
    channels.S.push_back(number(f.S));
  }
  for (const PairProfile& p : profile.pairs) {
    channels.pair_S.push_back(number(p.S));
    channels.pair_R.push_back(number(p.R));
  }
  return channels;
}

Channels channels_of(const CausalModel& model, const std::vector<double>& losses) {
  Workers workers(1);
  ScanResult scan = scan_dense(model.players, losses, {}, workers);
  return channels_of({.features = std::move(scan.features), .pairs = std::move(scan.pairs)}, Reading::value);
}

const std::vector<IndexKind>& e1_indices() {
  static const std::vector<IndexKind> kinds = {IndexKind::shapley_taylor, IndexKind::faithful,
                                               IndexKind::shapley_interaction, IndexKind::k_shapley,
                                               IndexKind::k_additive};
  return kinds;
}

std::vector<std::vector<double>> average(const PairIndices& phi, const std::vector<double>& weights,
                                         Averaging averaging) {
  std::vector<std::vector<double>> result;
  for (const auto& rows : phi) {
    std::vector<double> mean(rows.front().size(), 0.0);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (std::size_t p = 0; p < mean.size(); ++p)
        mean[p] += weights[r] * (averaging == Averaging::absolute ? std::abs(rows[r][p]) : rows[r][p]);
    }
    for (double& x : mean) x = std::abs(x);
    result.push_back(std::move(mean));
  }
  return result;
}

Mlp e1_network(const CausalModel& model, const E1Setup& setup, std::uint64_t seed) {
  const Sample sample = draw_sample(model, setup.training_rows, seed, kTraining);
  Mlp network = initial_mlp(model.players, {setup.hidden}, seed);
  train_mlp(network, {.width = model.players,
                      .rows = sample.rows,
                      .targets = sample.targets,
                      .epochs = setup.epochs,
                      .batch = setup.batch,
                      .learning_rate = setup.learning_rate,
                      .seed = seed});
  return network;
}

std::vector<double> pattern_weights(const CausalModel& model, const Sample& sample) {
  std::vector<double> weights(std::size_t{1} << model.players, 0.0);
  for (std::size_t r = 0; r < sample.size(); ++r) {
    std::size_t pattern = 0;
    for (std::size_t i = 0; i < model.players; ++i)
      pattern |= static_cast<std::size_t>(sample.rows[r * model.players + i] > .5) << i;
    weights[pattern] += 1 / static_cast<double>(sample.size());
  }
  return weights;
}

PairIndices true_indices(const CausalModel& model) {
  const BinaryModel oracle = binary_model(model);
  const IndexSet set(e1_indices(), model.players, 2);
  const Bits rows = Bits{1} << model.players;
  PairIndices phi(set.size(), std::vector<std::vector<double>>(rows));
  for (Bits x = 0; x < rows; ++x) {
    const auto values = set.evaluate(oracle.prediction_losses(x));
    for (std::size_t k = 0; k < set.size(); ++k) phi[k][x] = pairs_of(values[k], model.players);
  }
  return phi;
}

E1Measurement measure_e1(const CausalModel& model, const E1Setup& setup, const Mlp& network,
                         std::uint64_t seed, Workers& workers) {
  using Masking = Bench::Masking;
  Bench bench(model, setup, seed, workers);
  const auto net = [&] { return std::make_unique<MlpModel>(network, model.columns(), "network"); };
  E1Measurement m;
  const Sample training = draw_sample(model, setup.training_rows, seed, kTraining);
  const Sample test = draw_sample(model, setup.test_rows, seed, kTest);
  m.training_error = mean_squared_error(*net(), training.rows, training.targets);
  m.test_error = mean_squared_error(*net(), test.rows, test.targets);
  m.oracle = channels_of(bench.exact(std::make_unique<Oracle>(model), Masking::empirical), Reading::value);
  m.exact = channels_of(bench.exact(net(), Masking::empirical), Reading::value);
  m.exact_other = channels_of(bench.exact(net(), Masking::other), Reading::value);
  const Profile paper = bench.paper(net(), Masking::empirical, seed);
  m.paper_plugin = channels_of(paper, Reading::plugin);
  m.paper_value = channels_of(paper, Reading::value);
  m.paper_again = channels_of(bench.paper(net(), Masking::empirical, seed + 1), Reading::plugin);
  m.paper_other = channels_of(bench.paper(net(), Masking::other, seed), Reading::plugin);
  if (model.binary) {
    m.phi = bench.indices(net(), all_patterns(model), Masking::empirical);
    m.phi_uniform = bench.indices(net(), all_patterns(model), Masking::other);
    m.instances = pattern_weights(model, bench.instances());
  } else {
    m.phi = bench.indices(net(), bench.instances(), Masking::empirical);
    m.instances.assign(bench.instances().size(), 1 / static_cast<double>(bench.instances().size()));
  }
  return m;
}

}  // namespace hifi
