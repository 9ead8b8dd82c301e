// A small fully connected network, and the seam to what trains it. Predictions are computed here, in double
// and in one order, so that they depend on no library, batch or thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/model.h"

namespace hifi {

struct DenseLayer {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  std::vector<double> weights;  // inputs x outputs, row-major
  std::vector<double> bias;
};

// ReLU after every layer but the last.
struct Mlp {
  std::vector<DenseLayer> layers;
};

// Random weights, uniform within 1/sqrt(inputs), a function of the seed.
Mlp initial_mlp(std::size_t inputs, const std::vector<std::size_t>& hidden, std::uint64_t seed);

// Mean squared error by mini-batches with Adam; the learning rate falls to zero along a cosine.
struct Training {
  std::size_t width = 0;            // columns of a row
  std::span<const double> rows;     // row-major
  std::span<const double> targets;  // one per row
  std::size_t epochs = 200;
  std::size_t batch = 256;
  double learning_rate = 3e-3;
  std::uint64_t seed = 0;  // of the order of the rows
};

// Trains in place, by libtorch on one thread: the same task gives the same weights. May be called from
// several threads at once. Throws Error(input) if the plug-in is missing, Error(bug) if training fails.
void train_mlp(Mlp& network, const Training& task);

// What the plug-in answers to; `error` is empty on success.
using TrainMlp = void (*)(Mlp& network, const Training& task, std::string& error);

class MlpModel : public Model {
 public:
  // REQUIRES: one output
  MlpModel(Mlp network, std::vector<std::string> columns, std::string name);

  const ModelInfo& info() const override { return info_; }
  void predict(std::span<const double> rows, std::size_t count, std::span<double> out) const override;

 private:
  Mlp network_;
  ModelInfo info_;
};

double mean_squared_error(const Model& model, std::span<const double> rows, std::span<const double> targets);

}  // namespace hifi
