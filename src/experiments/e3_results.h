// What E3 measured, and the tables and sentences made from it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/e3_measure.h"
#include "experiments/e3_paper.h"
#include "experiments/experiment.h"

namespace hifi {

// A choice of players and how they are read, over all seeds.
struct E3Reading {
  std::string key;  // of its tables
  std::string title;
  std::vector<std::string> heads;
  std::vector<std::string> roles;  // of each head
  bool frozen = false;
  std::vector<HeadTable> seeds;
  const PaperCircuit* paper = nullptr;  // to stand beside ours

  // A number of every seed.
  template <class Number>
  std::vector<double> over_seeds(Number number) const {
    std::vector<double> values;
    for (const HeadTable& table : seeds) values.push_back(number(table));
    return values;
  }
};

// A searched map of more heads than can be enumerated.
struct E3Map {
  std::vector<std::string> heads;
  std::vector<std::string> roles;
  Profile profile;
  const PaperCircuit* paper = nullptr;
};

struct E3Data {
  std::string model;                                      // as every title names it
  std::vector<std::pair<E3Reading, E3Reading>> readings;  // each plain and with frozen LayerNorm
  // Role-preserving replacements: what was replaced, and the table.
  std::vector<std::pair<std::string, E3Reading>> replaced;
  std::optional<E3Map> map;
};

// Tables; `model` goes into their titles.
ResultTable e3_overview(const E3Data& data);
ResultTable e3_heads(const E3Data& data, const E3Reading& reading);
ResultTable e3_role_pairs(const E3Data& data, const E3Reading& plain, const E3Reading& frozen);
ResultTable e3_pairs(const E3Data& data, const E3Reading& plain, const E3Reading& frozen);
ResultTable e3_patching(const E3Data& data);
ResultTable e3_stability(const E3Data& data, Workers& workers);
// Logit difference by how many heads of `role` are kept, everything else intact.
ResultTable e3_saturation(const E3Data& data, const std::string& role);
std::vector<ResultTable> e3_map_tables(const E3Data& data);

// Means over the seeds, block by block.
std::vector<RolePair> mean_role_pairs(const E3Reading& reading);

// The paper's row of the block, if it has one.
const PaperRolePair* find_paper(const PaperCircuit* paper, const RolePair& block);
std::string block_name(const RolePair& block);

// Of the paper's 26 heads, on the prompts of the seed. REQUIRES: a model of 12 layers x 12 heads
E3Map search_map(const Gpt2& model, std::size_t prompts, std::uint64_t seed, const ExperimentOptions& options,
                 Workers& workers, Progress::Listener listener);

std::vector<std::string> e3_small_notes(const E3Data& data);
std::vector<std::string> e3_gpt2_notes(const E3Data& data);

}  // namespace hifi
