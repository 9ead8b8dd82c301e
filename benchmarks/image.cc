// image MODEL [SIDE] [CHANNELS]: pictures per second of the whole path (mask, fill, infer, update) against
// the bare model on batches of the same shape, interleaved; the answers are compared first.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "audit/image_subject.h"
#include "core/random.h"
#include "hifi/error.h"

using namespace hifi;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The model alone: pictures that are in the sessions already.
double bare(const Network& network, std::size_t calls, Workers& workers) {
  const std::size_t rows = network.info().rows;
  const std::size_t outputs = network.info().output.size();
  SessionPool sessions(network);
  const auto round = [&](std::size_t count) {
    workers.parallel_for((count + rows - 1) / rows, [&](std::size_t) {
      auto session = sessions.take();
      std::vector<double> out(rows * outputs);
      session->run(rows, out);
      sessions.give_back(std::move(session));
    });
  };
  round(rows * workers.threads());
  const auto start = Clock::now();
  round(calls);
  return seconds_since(start);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print("benchmarks/image.py makes the models and runs this\n");
    return 0;
  }
  try {
    const std::size_t side = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 224;
    const std::size_t channels = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1;
    const Recipe recipe = Recipe::parse(
        fmt::format(R"({{"size":[{0},{0}],"channels":"{1}"}})", side, channels == 1 ? "grey" : "rgb"),
        "benchmark");
    const ImageModel model = open_image_model({.model = argv[1]}, recipe);
    Workers workers(0);
    RandomStream random(1, Purpose::planted_noise);
    ImageInput input{std::vector<float>(channels * side * side),
                     {std::vector<float>(channels * side * side)}};
    for (float& x : input.image) x = static_cast<float>(random.uniform());
    for (float& x : input.fills[0]) x = static_cast<float>(random.uniform());
    const Patches patches = grid_patches({7, 7}, side, side);
    const PatchMask mask(patches, 2);
    const PatchPlan plan = plan_patches(patches.players(), 1000, 0, 1, 0);
    ImageNetwork network(*model.network, true);
    const ClassReading reading{ClassMeasure::probability, Link::none, false, 0};
    ImageGame game(network, input, mask, reading);
    std::vector<Reading> first(plan.coalitions.size()), second(first.size());

    game.readings(plan.coalitions, first, workers);
    game.readings(plan.coalitions, second, workers);
    for (std::size_t k = 0; k < first.size(); ++k) {
      if (first[k].loss != second[k].loss) throw model_error("the answers differ from run to run");
    }
    std::vector<double> whole, alone;
    for (int round = 0; round < 5; ++round) {
      const auto start = Clock::now();
      game.readings(plan.coalitions, second, workers);
      patch_values(patches.players(), plan,
                   {plan.coalitions, std::vector<double>(first.size()), std::vector<double>(first.size())},
                   workers);
      whole.push_back(seconds_since(start));
      alone.push_back(bare(*model.network, plan.coalitions.size(), workers));
    }
    std::sort(whole.begin(), whole.end());
    std::sort(alone.begin(), alone.end());
    const double calls = static_cast<double>(plan.coalitions.size());
    fmt::print("{} pictures of {} x {} x {}, batches of {}, {} threads, median of 5\n",
               plan.coalitions.size(), channels, side, side, model.network->info().rows, workers.threads());
    fmt::print("bare model  {:8.1f} pictures/s\nwhole path  {:8.1f} pictures/s, {:.1f} % of the bare model\n",
               calls / alone[2], calls / whole[2], 100 * alone[2] / whole[2]);
  } catch (const Error& error) {
    fmt::print(stderr, "{} ({})\n", error.what(), error.hint());
    return static_cast<int>(error.code());
  }
  return 0;
}
