#include "vocabulary/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numbers>

#include "data/text_column.h"
#include "hifi/coalition.h"
#include "hifi/error.h"

namespace hifi {

namespace {

using json = nlohmann::ordered_json;  // a resumed run gives the bytes of an unbroken one

// Shards may run where files have other paths; the hashes tell whether they are the same files. What follows
// from the memory, the blocks, is compared.
constexpr const char* kNotCompared[] = {"/shard/0",
                                        "/shard/1",
                                        "/options/model",
                                        "/options/data",
                                        "/options/background",
                                        "/options/images",
                                        "/options/labels",
                                        "/options/segments",
                                        "/options/groups",
                                        "/options/check_predictions",
                                        "/options/max_memory",
                                        "/provenance/model/path",
                                        "/provenance/data/path",
                                        "/provenance/background/description"};

constexpr std::size_t kMaxShards = 1'000'000;

constexpr const char* kPopulations[] = {"rows", "both", "instances", "draws"};

Population parse_population(const std::string& text, const std::string& place) {
  const auto* found = std::find(std::begin(kPopulations), std::end(kPopulations), text);
  if (found == std::end(kPopulations))
    throw input_error(fmt::format("{}: unknown population \"{}\" in the plan", place, text));
  return static_cast<Population>(found - std::begin(kPopulations));
}

json warnings_json(const std::vector<Warning>& warnings) {
  json list = json::array();
  for (const Warning& w : warnings) list.push_back({{"code", w.code}, {"message", w.message}});
  return list;
}

// A file from a stranger may nest so deep that writing it out again would overflow the stack.
json parse_flat(const std::string& text) {
  constexpr int kDepth = 16;
  return json::parse(text, [](int depth, json::parse_event_t, json&) {
    if (depth > kDepth) throw input_error("nested too deep");
    return true;
  });
}

// A count. json::get would wrap -1 and cut 1e300.
template <class T>
void take_count(const json& value, T& count) {
  if (!value.is_number_unsigned())
    throw input_error(fmt::format("{} is no count", one_line(value.dump(), 40)));
  value.get_to(count);
}

void take_counts(const json& list, std::vector<std::uint64_t>& counts) {
  for (const json& value : list) take_count(value, counts.emplace_back());
}

void take_object(const json& value, std::string& text) {
  if (!value.is_object()) throw input_error(fmt::format("{} is no object", one_line(value.dump(), 40)));
  text = value.dump();
}

bool adds_up(const std::vector<std::uint64_t>& weights, std::uint64_t draws) {
  for (const std::uint64_t weight : weights) {
    if (weight > draws) return false;
    draws -= weight;
  }
  return draws == 0;
}

bool search_is_sane(const RunPlan& plan) {
  const SearchPlan& search = plan.search;
  if (plan.policy == "paper") {
    const PaperPlan& paper = plan.paper;
    return plan.players.size() >= 2 && paper.slices >= 1 && paper.slices <= 64 && paper.range_draws >= 1 &&
           paper.ranges >= 1 && paper.range_draws % paper.slices == 0 && paper.width >= 0 &&
           paper.evaluations / paper.range_draws >= 2 * plan.players.size() + 2;
  }
  if (plan.policy == "images") {
    constexpr std::uint64_t kMostImages = 1 << 24;
    return plan.instances >= 1 && plan.instances <= plan.draws && plan.draws % plan.instances == 0 &&
           plan.instances <= plan.rows && plan.rows <= kMostImages && plan.shards <= plan.rows &&
           search.coalitions >= 1 && search.coalitions <= 16;
  }
  if (plan.policy != "search") return plan.policy == "exhaustive";
  constexpr std::size_t kMost = std::size_t{1} << 32;
  return search.coalitions >= 2 && search.coalitions <= kMost && search.reported <= kMost &&
         search.draws >= 1 && search.sigma >= 0 && (search.split || search.draws == plan.draws);
}

void check(const RunPlan& plan, const std::string& place) {
  const bool sane =
      !plan.players.empty() && plan.players.size() <= (plan.policy == "exhaustive" ? 30 : kMaxPlayers) &&
      search_is_sane(plan) && plan.look <= 64 &&
      (!plan.per_instance || plan.policy == "search" ||
       (plan.instances > 0 && plan.draws % plan.instances == 0)) &&
      plan.draws > 0 && plan.draws <= std::uint64_t{1} << 62 && plan.instance_blocks >= 1 &&
      plan.instance_blocks <= 4096 && plan.background_blocks >= 1 && plan.background_blocks <= 4096 &&
      plan.round_blocks <= 4096 && plan.shard >= 1 && plan.shard <= plan.shards &&
      plan.shards <= kMaxShards && (plan.policy != "exhaustive" || plan.shards <= plan.instance_blocks) &&
      plan.tie_tolerance >= 0 && plan.instance_weights.size() == plan.instance_blocks &&
      plan.background_weights.size() == plan.background_blocks &&
      plan.round_weights.size() == plan.round_blocks && adds_up(plan.instance_weights, plan.draws) &&
      adds_up(plan.background_weights, plan.draws) &&
      (plan.round_blocks == 0 || adds_up(plan.round_weights, plan.draws)) &&
      plan.loss_range.value_or(0) >= 0 && plan.confidence > 0 && plan.confidence < 1 &&
      (plan.population != Population::rows || plan.instance_blocks == plan.background_blocks);
  if (!sane) throw input_error(fmt::format("{}: the plan in the run file is out of range", place));
}

}  // namespace

double RunPlan::alpha() const {
  const double all = 1 - confidence;
  const auto k = static_cast<double>(look);
  return look == 0 ? all : all * 6 / (std::numbers::pi * std::numbers::pi * k * k);
}

std::string RunPlan::to_json() const {
  const json plan = {{"version", version},
                     {"players", players},
                     {"loss", loss},
                     {"measure", measure},
                     {"expected", expected},
                     {"options", json::parse(options)},
                     {"provenance", json::parse(provenance)},
                     {"policy", policy},
                     {"seed", seed},
                     {"evaluations", evaluations},
                     {"look", look},
                     {"per_instance", per_instance},
                     {"search",
                      {{"coalitions", search.coalitions},
                       {"draws", search.draws},
                       {"split", search.split},
                       {"reported", search.reported},
                       {"sigma", search.sigma},
                       {"instance_coalitions", search.instance_coalitions},
                       {"instance_weights", search.instance_weights},
                       {"instance_exact", search.instance_exact}}},
                     {"paper",
                      {{"evaluations", paper.evaluations},
                       {"range_draws", paper.range_draws},
                       {"ranges", paper.ranges},
                       {"slices", paper.slices},
                       {"width", paper.width}}},
                     {"draws", draws},
                     {"exact", exact},
                     {"blocks", {instance_blocks, background_blocks, round_blocks}},
                     {"weights", {instance_weights, background_weights, round_weights}},
                     {"rows", rows},
                     {"instances", instances},
                     {"pairs", pairs},
                     {"population", kPopulations[static_cast<std::size_t>(population)]},
                     {"batch", batch_rows},
                     {"tie_tolerance", tie_tolerance},
                     {"loss_range", loss_range ? json(*loss_range) : json(nullptr)},
                     {"interval", interval},
                     {"confidence", confidence},
                     {"warnings", warnings_json(warnings)},
                     {"shard", {shard, shards}}};
  return plan.dump(-1, ' ', false, json::error_handler_t::replace);  // paths may be in any encoding
}

RunPlan RunPlan::from_json(const std::string& text, const std::string& place) {
  RunPlan plan;
  try {
    const json j = parse_flat(text);
    j.at("version").get_to(plan.version);
    j.at("players").get_to(plan.players);
    j.at("loss").get_to(plan.loss);
    j.at("measure").get_to(plan.measure);
    j.at("expected").get_to(plan.expected);
    take_object(j.at("options"), plan.options);
    take_object(j.at("provenance"), plan.provenance);
    j.at("policy").get_to(plan.policy);
    take_count(j.at("seed"), plan.seed);
    take_count(j.at("evaluations"), plan.evaluations);
    take_count(j.at("look"), plan.look);
    j.at("per_instance").get_to(plan.per_instance);
    const json& search = j.at("search");
    take_count(search.at("coalitions"), plan.search.coalitions);
    take_count(search.at("draws"), plan.search.draws);
    search.at("split").get_to(plan.search.split);
    take_count(search.at("reported"), plan.search.reported);
    search.at("sigma").get_to(plan.search.sigma);
    take_count(search.at("instance_coalitions"), plan.search.instance_coalitions);
    take_counts(search.at("instance_weights"), plan.search.instance_weights);
    search.at("instance_exact").get_to(plan.search.instance_exact);
    const json& paper = j.at("paper");
    take_count(paper.at("evaluations"), plan.paper.evaluations);
    take_count(paper.at("range_draws"), plan.paper.range_draws);
    take_count(paper.at("ranges"), plan.paper.ranges);
    take_count(paper.at("slices"), plan.paper.slices);
    paper.at("width").get_to(plan.paper.width);
    take_count(j.at("draws"), plan.draws);
    j.at("exact").get_to(plan.exact);
    take_count(j.at("blocks").at(0), plan.instance_blocks);
    take_count(j.at("blocks").at(1), plan.background_blocks);
    take_count(j.at("blocks").at(2), plan.round_blocks);
    take_counts(j.at("weights").at(0), plan.instance_weights);
    take_counts(j.at("weights").at(1), plan.background_weights);
    take_counts(j.at("weights").at(2), plan.round_weights);
    take_count(j.at("rows"), plan.rows);
    take_count(j.at("instances"), plan.instances);
    take_count(j.at("pairs"), plan.pairs);
    plan.population = parse_population(j.at("population").get<std::string>(), place);
    take_count(j.at("batch"), plan.batch_rows);
    j.at("tie_tolerance").get_to(plan.tie_tolerance);
    if (!j.at("loss_range").is_null()) plan.loss_range = j.at("loss_range").get<double>();
    j.at("interval").get_to(plan.interval);
    j.at("confidence").get_to(plan.confidence);
    for (const json& w : j.at("warnings")) plan.warnings.push_back({w.at("code"), w.at("message")});
    take_count(j.at("shard").at(0), plan.shard);
    take_count(j.at("shard").at(1), plan.shards);
  } catch (const std::exception& error) {
    throw input_error(fmt::format("{}: the plan in the run file is broken: {}", place, error.what()));
  }
  check(plan, place);
  return plan;
}

std::string RunPlan::difference(const RunPlan& a, const RunPlan& b) {
  json first = json::parse(a.to_json()).flatten();
  json second = json::parse(b.to_json()).flatten();
  for (auto* plan : {&first, &second}) {
    for (const char* field : kNotCompared) plan->erase(field);
  }
  for (const auto& [key, value] : first.items()) {
    if (!second.contains(key)) return fmt::format("{}: {} and nothing", key.substr(1), value.dump());
    if (second[key] != value)
      return fmt::format("{}: {} and {}", key.substr(1), value.dump(), second[key].dump());
  }
  for (const auto& [key, value] : second.items()) {
    if (!first.contains(key)) return fmt::format("{}: nothing and {}", key.substr(1), value.dump());
  }
  return "";
}

}  // namespace hifi
