#include "experiments/mlp.h"

#include <algorithm>
#include <cmath>

#include "core/hash.h"
#include "core/plugin.h"
#include "core/random.h"
#include "hifi/error.h"

namespace hifi {

Mlp initial_mlp(std::size_t inputs, const std::vector<std::size_t>& hidden, std::uint64_t seed) {
  Mlp network;
  RandomStream random(seed, Purpose::training_start);
  std::vector<std::size_t> widths = hidden;
  widths.push_back(1);
  for (const std::size_t outputs : widths) {
    DenseLayer layer{.inputs = inputs, .outputs = outputs};
    const double reach = 1 / std::sqrt(static_cast<double>(inputs));
    const auto draw = [&] { return reach * (2 * random.uniform() - 1); };
    layer.weights.resize(inputs * outputs);
    layer.bias.resize(outputs);
    std::generate(layer.weights.begin(), layer.weights.end(), draw);
    std::generate(layer.bias.begin(), layer.bias.end(), draw);
    network.layers.push_back(std::move(layer));
    inputs = outputs;
  }
  return network;
}

void train_mlp(Mlp& network, const Training& task) {
  const auto train = reinterpret_cast<TrainMlp>(
      plugin_symbol("training", "hifi_train_mlp", "the Debian package libtorch1.13"));
  std::string error;
  train(network, task, error);
  if (!error.empty()) throw Error(ErrorCode::bug, "training failed: " + error);
}

MlpModel::MlpModel(Mlp network, std::vector<std::string> columns, std::string name)
    : network_(std::move(network)) {
  info_.path = std::move(name);
  info_.format = "mlp";
  info_.task = Task::regression;
  info_.width = network_.layers.front().inputs;
  info_.columns = std::move(columns);
  std::string hash;
  for (const DenseLayer& layer : network_.layers) {
    hash = hex_hash(hash + std::to_string(hash_numbers(layer.weights, 0).low) +
                    std::to_string(hash_numbers(layer.bias, 0).low));
  }
  info_.hash = hash;
}

void MlpModel::predict(std::span<const double> rows, std::size_t count, std::span<double> out) const {
  std::vector<double> input, output;
  for (std::size_t r = 0; r < count; ++r) {
    const auto row = rows.subspan(r * info_.width, info_.width);
    input.assign(row.begin(), row.end());
    for (std::size_t l = 0; l < network_.layers.size(); ++l) {
      const DenseLayer& layer = network_.layers[l];
      output = layer.bias;
      for (std::size_t i = 0; i < layer.inputs; ++i) {
        const double* weights = layer.weights.data() + i * layer.outputs;
        for (std::size_t o = 0; o < layer.outputs; ++o) output[o] += input[i] * weights[o];
      }
      if (l + 1 < network_.layers.size()) {
        for (double& x : output) x = std::max(x, 0.0);
      }
      input.swap(output);
    }
    out[r] = input[0];
  }
}

double mean_squared_error(const Model& model, std::span<const double> rows, std::span<const double> targets) {
  std::vector<double> predictions(targets.size());
  model.predict(rows, targets.size(), predictions);
  double sum = 0;
  for (std::size_t r = 0; r < targets.size(); ++r) sum += std::pow(predictions[r] - targets[r], 2);
  return sum / static_cast<double>(targets.size());
}

}  // namespace hifi
