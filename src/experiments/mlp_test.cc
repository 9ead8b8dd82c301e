#include "experiments/mlp.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/parallel.h"
#include "experiments/e1_scm.h"

namespace hifi {
namespace {

TEST(Mlp, PredictsByHand) {
  const Mlp network{.layers = {{.inputs = 2, .outputs = 2, .weights = {1, -2, 3, .5}, .bias = {.25, -1}},
                               {.inputs = 2, .outputs = 1, .weights = {2, 4}, .bias = {-.5}}}};
  const MlpModel model(network, {"a", "b"}, "by hand");
  std::vector<double> out(2);
  model.predict(std::vector<double>{1, 2, -3, 1}, 2, out);
  // Row 1: max(1 + 6 + .25, 0) = 7.25, max(-2 + 1 - 1, 0) = 0. Row 2: max(-3 + 3 + .25, 0), max(6 + .5 - 1,
  // 0).
  EXPECT_DOUBLE_EQ(out[0], 2 * 7.25 - .5);
  EXPECT_DOUBLE_EQ(out[1], 2 * .25 + 4 * 5.5 - .5);
}

Training task_of(const Sample& sample) {
  return {.width = sample.width,
          .rows = sample.rows,
          .targets = sample.targets,
          .epochs = 40,
          .batch = 50,
          .learning_rate = .02,
          .seed = 3};
}

TEST(Mlp, LearnsParity) {
  const CausalModel truth = xor3_model();
  const Sample sample = draw_sample(truth, 500, 1, 0);
  const Sample fresh = draw_sample(truth, 500, 1, 1);
  Mlp network = initial_mlp(4, {16}, 1);
  const double before = mean_squared_error(MlpModel(network, truth.columns(), ""), fresh.rows, fresh.targets);
  train_mlp(network, task_of(sample));
  const double after = mean_squared_error(MlpModel(network, truth.columns(), ""), fresh.rows, fresh.targets);
  EXPECT_GT(before, .2);
  EXPECT_LT(after, .02);
}

TEST(Mlp, TrainsToTheSameBytesOnAnyThread) {
  const Sample sample = draw_sample(synth3_model(), 300, 1, 0);
  Mlp alone = initial_mlp(8, {16}, 1);
  train_mlp(alone, task_of(sample));
  std::vector<Mlp> together(3, initial_mlp(8, {16}, 1));
  Workers workers(3);
  workers.parallel_for(together.size(), [&](std::size_t k) { train_mlp(together[k], task_of(sample)); });
  for (const Mlp& network : together) {
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
      EXPECT_EQ(network.layers[l].weights, alone.layers[l].weights);
      EXPECT_EQ(network.layers[l].bias, alone.layers[l].bias);
    }
  }
}

}  // namespace
}  // namespace hifi
