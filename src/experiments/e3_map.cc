// The map of all 26 heads of the published circuit: searched, because 2^26 coalitions are too many.
#include <fmt/format.h>

#include "audit/audit.h"
#include "audit/profile.h"
#include "experiments/e3_results.h"

namespace hifi {

namespace {

constexpr std::uint64_t kCoalitions = 2500, kQuickCoalitions = 400;

ResultCell cell(const Quantity& quantity) { return quantity.value; }

}  // namespace

E3Map search_map(const Gpt2& model, std::size_t prompts, std::uint64_t seed, const ExperimentOptions& options,
                 Workers& workers, Progress::Listener listener) {
  E3Map map{.paper = &paper_all_heads()};
  for (const PaperHead& head : map.paper->heads) {
    map.heads.push_back(head.head);
    map.roles.push_back(head.role);
  }
  // What `hifi circuit` would do.
  const ExplainRequest request{.model = model.folder(),
                               .budget = (options.quick ? kQuickCoalitions : kCoalitions) * prompts,
                               .seed = seed,
                               .task = "ioi",
                               .prompts = prompts,
                               .heads = map.heads};
  Audit audit(request, Shard{}, workers);
  const RunResult run = audit.run(nullptr, std::move(listener));
  map.profile = make_profile(audit.plan(), run, "all", workers);
  return map;
}

std::vector<ResultTable> e3_map_tables(const E3Data& data) {
  const E3Map& map = *data.map;
  const std::string model = fmt::format(" [{}]", data.model);
  ResultTable heads{
      .key = "e3_map_heads",
      .title = fmt::format("The map of 26 heads: {} searched coalitions, first seed",
                           map.profile.coverage.coalitions) +
               model,
      .columns = {"head", "role", "U", "U paper", "R", "R paper", "S", "S paper", "pi", "pi paper"},
      .note = "Over the coalitions seen U is an upper bound, R and S are lower bounds."};
  for (std::size_t i = 0; i < map.heads.size(); ++i) {
    const FeatureProfile& f = map.profile.features[i];
    const PaperHead& paper = map.paper->heads[i];
    heads.add({map.heads[i], map.roles[i], cell(f.U), paper.U, cell(f.R), paper.R, cell(f.S), paper.S,
               cell(f.pi), paper.pi});
  }
  ResultTable roles{.key = "e3_map_roles",
                    .title = "Pairs by role in the map of 26 heads" + model,
                    .columns = {"roles", "pairs", "S", "R", "S paper", "R paper"},
                    .note = "Means over the pairs that were tested together in some context."};
  for (const RolePair& block : role_pairs(map.profile.pairs, map.roles)) {
    const PaperRolePair* known = find_paper(map.paper, block);
    roles.add({block_name(block), static_cast<double>(block.pairs), block.S, block.R,
               known ? ResultCell(known->S) : ResultCell(), known ? ResultCell(known->R) : ResultCell()});
  }
  ResultTable pairs{.key = "e3_map_pairs",
                    .title = "Pairs in the map of 26 heads" + model,
                    .columns = {"first", "second", "S", "R"},
                    .printed = false};
  for (const PairProfile& pair : map.profile.pairs) {
    pairs.add({map.heads[pair.first], map.heads[pair.second], cell(pair.S), cell(pair.R)});
  }
  return {heads, roles, pairs};
}

}  // namespace hifi
