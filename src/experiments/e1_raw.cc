// The networks, and every number of every repetition.
#include "experiments/e1_paper.h"
#include "experiments/e1_results.h"

namespace hifi {

namespace {

struct Source {
  const char* name;
  Channels E1Measurement::*channels;
};

const std::vector<Source>& sources() {
  static const std::vector<Source> list = {{"true function", &E1Measurement::oracle},
                                           {"exact", &E1Measurement::exact},
                                           {"paper policy", &E1Measurement::paper_plugin},
                                           {"paper policy, corrected", &E1Measurement::paper_value},
                                           {"paper policy, again", &E1Measurement::paper_again},
                                           {"exact, other background", &E1Measurement::exact_other},
                                           {"paper policy, other background", &E1Measurement::paper_other}};
  return list;
}

// For every model, repetition and source; the population stands once, without a repetition.
template <typename Add>
void for_each_source(const E1Data& data, const Add& add) {
  for (const E1Model& model : data.models) {
    add(model, ResultCell(), "population", model.population);
    for (std::size_t s = 0; s < model.found.size(); ++s) {
      for (const Source& source : sources())
        add(model, ResultCell(std::to_string(s + 1)), source.name, model.found[s].*(source.channels));
    }
  }
}

std::string player(std::size_t i) { return "x" + std::to_string(i + 1); }

}  // namespace

ResultTable e1_networks(const E1Data& data) {
  ResultTable table{
      .key = "networks",
      .title = "The networks: mean squared error",
      .columns = {"model", "paper", "on training rows", "on fresh rows", "share of variance explained"}};
  for (const E1Model& model : data.models) {
    // L({}) compares two independent rows, plus the noise of one.
    const double noise = model.truth.noise * model.truth.noise;
    const double variance = (model.truth.population_losses.front() - noise) / 2 + noise;
    std::vector<double> training, test, explained;
    for (const E1Measurement& m : model.found) {
      training.push_back(m.training_error);
      test.push_back(m.test_error);
      explained.push_back(1 - m.test_error / variance);
    }
    table.add({model.truth.name,
               model.truth.key == "xor3" ? ResultCell(e1_paper::kXor3TestError) : ResultCell(),
               ResultCell::over(training), ResultCell::over(test), ResultCell::over(explained)});
  }
  return table;
}

std::vector<ResultTable> e1_raw(const E1Data& data) {
  ResultTable players{.key = "players",
                      .title = "U, R, S of every player",
                      .columns = {"model", "seed", "source", "player", "U", "R", "S"},
                      .printed = false};
  ResultTable pairs{.key = "pairs",
                    .title = "S and R of every pair",
                    .columns = {"model", "seed", "source", "first", "second", "S", "R"},
                    .printed = false};
  for_each_source(data, [&](const E1Model& model, const ResultCell& seed, const char* source,
                            const Channels& channels) {
    std::size_t p = 0;
    for (std::size_t i = 0; i < model.truth.players; ++i) {
      players.add({model.truth.name, seed, source, player(i), channels.U[i], channels.R[i], channels.S[i]});
      for (std::size_t j = i + 1; j < model.truth.players; ++j, ++p)
        pairs.add(
            {model.truth.name, seed, source, player(i), player(j), channels.pair_S[p], channels.pair_R[p]});
    }
  });

  ResultTable indices{.key = "indices",
                      .title = "Pair values of the indices over the instances",
                      .columns = {"model", "seed", "index", "first", "second", "|mean phi|", "mean |phi|"},
                      .printed = false};
  for (const E1Model& model : data.models) {
    for (std::size_t s = 0; s < model.found.size(); ++s) {
      const E1Measurement& m = model.found[s];
      const auto cancelled = average(m.phi, m.instances, Averaging::signed_mean);
      const auto kept = average(m.phi, m.instances, Averaging::absolute);
      for (std::size_t k = 0; k < e1_indices().size(); ++k) {
        std::size_t p = 0;
        for (std::size_t i = 0; i < model.truth.players; ++i) {
          for (std::size_t j = i + 1; j < model.truth.players; ++j, ++p)
            indices.add({model.truth.name, std::to_string(s + 1), index_name(e1_indices()[k]), player(i),
                         player(j), cancelled[k][p], kept[k][p]});
        }
      }
    }
  }
  return {players, pairs, indices};
}

}  // namespace hifi
