// The training plug-in: the one file that sees libtorch's optimisers.
#include <ATen/Parallel.h>
#include <torch/optim/adam.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/random.h"
#include "experiments/mlp.h"

namespace hifi {
namespace {

torch::Tensor tensor_of(std::span<const double> values, std::vector<std::int64_t> shape) {
  return torch::from_blob(const_cast<double*>(values.data()), shape, torch::kFloat64)
      .to(torch::kFloat32)
      .clone();
}

void copy_back(const torch::Tensor& tensor, std::vector<double>& values) {
  const torch::Tensor wide = tensor.detach().to(torch::kFloat64).contiguous();
  std::copy_n(wide.data_ptr<double>(), values.size(), values.begin());
}

std::int64_t signed_size(std::size_t size) { return static_cast<std::int64_t>(size); }

void train(Mlp& network, const Training& task) {
  // Of this thread alone. Sums in parallel would depend on the number of threads.
  at::set_num_threads(1);
  std::vector<torch::Tensor> parameters;
  for (const DenseLayer& layer : network.layers) {
    parameters.push_back(
        tensor_of(layer.weights, {signed_size(layer.inputs), signed_size(layer.outputs)}).requires_grad_());
    parameters.push_back(tensor_of(layer.bias, {signed_size(layer.outputs)}).requires_grad_());
  }
  const std::size_t rows = task.targets.size();
  const torch::Tensor x = tensor_of(task.rows, {signed_size(rows), signed_size(task.width)});
  const torch::Tensor y = tensor_of(task.targets, {signed_size(rows), 1});
  torch::optim::Adam adam(parameters, torch::optim::AdamOptions(task.learning_rate));
  const std::size_t steps_per_epoch = (rows + task.batch - 1) / task.batch;
  const double steps = static_cast<double>(task.epochs * steps_per_epoch);
  double step = 0;
  for (std::size_t epoch = 0; epoch < task.epochs; ++epoch) {
    const auto order = RandomStream(task.seed, Purpose::training_order, epoch).permutation(rows);
    const std::vector<std::int64_t> places(order.begin(), order.end());
    const torch::Tensor shuffled = torch::tensor(places);
    for (std::size_t first = 0; first < rows; first += task.batch, ++step) {
      const torch::Tensor batch =
          shuffled.slice(0, signed_size(first), signed_size(std::min(rows, first + task.batch)));
      torch::Tensor h = x.index_select(0, batch);
      for (std::size_t p = 0; p < parameters.size(); p += 2) {
        h = torch::addmm(parameters[p + 1], h, parameters[p]);
        if (p + 2 < parameters.size()) h = torch::relu(h);
      }
      const torch::Tensor loss = (h - y.index_select(0, batch)).square().mean();
      adam.zero_grad();
      loss.backward();
      static_cast<torch::optim::AdamOptions&>(adam.param_groups()[0].options())
          .lr(task.learning_rate * .5 * (1 + std::cos(std::numbers::pi * step / steps)));
      adam.step();
    }
  }
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    copy_back(parameters[2 * l], network.layers[l].weights);
    copy_back(parameters[2 * l + 1], network.layers[l].bias);
  }
}

}  // namespace
}  // namespace hifi

extern "C" {
void hifi_train_mlp(hifi::Mlp& network, const hifi::Training& task, std::string& error);
void hifi_train_mlp(hifi::Mlp& network, const hifi::Training& task, std::string& error) {
  try {
    hifi::train(network, task);
  } catch (const std::exception& failure) {
    error = failure.what();
  }
}
}
