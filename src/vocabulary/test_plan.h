// A plan for tests: two players, twelve draws in four instance blocks.
#pragma once

#include "vocabulary/run_plan.h"

namespace hifi {

inline RunPlan test_plan() {
  RunPlan plan;
  plan.version = "0";
  plan.players = {"a", "b"};
  plan.loss = "squared";
  plan.options = R"({"seed":1,"model":"m"})";
  plan.provenance = R"({"model":{"hash":"x","path":"m"}})";
  plan.draws = 12;
  plan.instance_blocks = 4;
  plan.background_blocks = 3;
  plan.round_blocks = 2;
  plan.instance_weights = {3, 3, 3, 3};
  plan.background_weights = {4, 4, 4};
  plan.round_weights = {6, 6};
  plan.instances = 4;
  plan.pairs = 40;
  plan.batch_rows = 100;
  plan.population = Population::both;
  plan.interval = "population";
  return plan;
}

// Other numbers of draws and blocks, with weights that fit.
inline void reshape(RunPlan& plan, std::uint64_t draws, std::size_t instance, std::size_t background,
                    std::size_t round) {
  const auto weights = [&](std::size_t blocks) {
    std::vector<std::uint64_t> list(blocks);
    for (std::size_t b = 0; b < blocks; ++b) list[b] = draws * (b + 1) / blocks - draws * b / blocks;
    return list;
  };
  plan.draws = draws;
  plan.instance_blocks = instance;
  plan.background_blocks = background;
  plan.round_blocks = round;
  plan.instance_weights = weights(instance);
  plan.background_weights = weights(background);
  plan.round_weights = weights(round);
}

}  // namespace hifi
