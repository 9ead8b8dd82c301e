#include "audit/image_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "audit/profile.h"
#include "audit/profile_parts.h"
#include "core/random.h"
#include "decomposition/cell_inference.h"
#include "decomposition/noise.h"
#include "hifi/error.h"
#include "report/text_table.h"

namespace hifi {

namespace {

using Json = nlohmann::ordered_json;
using Places = std::unordered_map<Coalition, std::size_t, CoalitionHash>;

constexpr std::uint64_t kSample = 20;  // draws from which on they are taken as a sample
constexpr std::size_t kBlocks = 32;

Places places_of(const ImageCells& cells) {
  Places places;
  for (std::size_t k = 0; k < cells.coalitions.size(); ++k) places.emplace(cells.coalitions[k], k);
  return places;
}

// In the order of the first image.
std::vector<Coalition> common_coalitions(const std::vector<ImageRecord>& records) {
  std::vector<Coalition> common = records[0].grids[0].coalitions;
  for (std::size_t i = 1; i < records.size(); ++i) {
    const Places places = places_of(records[i].grids[0]);
    std::erase_if(common, [&](const Coalition& c) { return !places.contains(c); });
  }
  return common;
}

// Sums by block of draws, of the coalitions given. Draw d of an image is its fill d.
void add_losses(Lattice& lattice, const ImageCells& cells, std::span<const Coalition> coalitions,
                std::size_t fills, const std::function<std::size_t(std::size_t)>& block_of_fill) {
  const Places places = places_of(cells);
  for (std::size_t c = 0; c < coalitions.size(); ++c) {
    const double* losses = cells.values.data() + places.at(coalitions[c]) * 2 * fills;
    for (std::size_t f = 0; f < fills; ++f) {
      lattice.instance[block_of_fill(f)][c] += losses[f];
      lattice.sums.squares[c] += losses[f] * losses[f];
    }
  }
}

bool is_complete(std::size_t players, std::size_t coalitions) {
  return players < 63 && coalitions == std::size_t{1} << players;
}

// Numbers, intervals and verdicts of one vocabulary.
Profile numbers_of(const RunPlan& plan, std::span<const Coalition> coalitions, const Lattice& cells,
                   const ScanOptions& options, const VerdictOptions& verdict, Workers& workers) {
  const SeenLattice seen(plan.players.size(), coalitions, workers);
  const std::vector<double> means = cells.means();
  ScanResult scan = scan_sparse(seen, means, options, workers);
  const Noise rows = population_noise(cells, means, plan);
  const Noise draws = montecarlo_noise(cells, means, plan);
  infer_cells(scan, seen, SharedDraws(means, plan.interval == "population" ? rows : draws),
              SharedDraws(means, draws), inference_options(plan), workers);
  judge(scan.features, scan.pairs, verdict);
  Profile profile{
      .players = plan.players, .features = std::move(scan.features), .pairs = std::move(scan.pairs)};
  profile.widest_interval = widest_interval(profile.features);
  if (!is_complete(plan.players.size(), coalitions.size())) {
    for (FeatureProfile& f : profile.features) f.basis = "searched";
    open_far_ends(profile);
    resolve(profile.features, profile.pairs, verdict.threshold);
  }
  return profile;
}

// The image is fixed, its fills are the sample.
RunPlan plan_of_one(const RunPlan& plan) {
  RunPlan one = plan;
  one.look = 0;
  one.draws = one.instances = plan.draws / plan.instances;
  one.exact = plan.pairs > 0;  // all fills
  one.pairs = one.exact ? one.draws : 0;
  one.instance_blocks = std::min<std::size_t>(kBlocks, one.draws);
  one.instance_weights.assign(one.instance_blocks, 0);
  for (std::size_t f = 0; f < one.draws; ++f) ++one.instance_weights[f % one.instance_blocks];
  one.round_weights = one.exact ? std::vector<std::uint64_t>{} : one.instance_weights;
  one.round_blocks = one.round_weights.size();
  if (plan.interval == "population" && one.draws < kSample) one.interval = "montecarlo";
  return one;
}

struct MeanProfile {
  Profile profile;
  VerdictOptions verdict;
};

MeanProfile mean_of(const RunPlan& plan, const std::vector<ImageRecord>& records, const std::string& pairs,
                    Workers& workers) {
  const ScanOptions options{.tie_tolerance = plan.tie_tolerance, .pairs = parse_pairs(pairs, plan.players)};
  const std::size_t fills = plan.draws / plan.instances;
  const std::vector<Coalition> common = common_coalitions(records);
  Lattice cells = Lattice::zeros(common.size(), plan.instance_blocks, 0, 0);
  cells.draws = plan.draws;
  // Files are often sorted: images go to blocks by a seeded order.
  const auto order = RandomStream(plan.seed, Purpose::instance_order).permutation(plan.rows);
  for (std::size_t position = 0; position < records.size(); ++position) {
    const auto record = std::lower_bound(records.begin(), records.end(), order[position],
                                         [](const ImageRecord& r, std::size_t i) { return r.image < i; });
    const std::size_t block = position % plan.instance_blocks;
    add_losses(cells, record->grids[0], common, fills, [&](std::size_t) { return block; });
  }
  if (plan.round_blocks > 0) cells.sums.round = cells.instance;
  Profile profile = start_profile(plan);
  const VerdictOptions verdict = measure(profile, cells.means());
  Profile all = numbers_of(plan, common, cells, options, verdict, workers);
  profile.coverage.exhaustive = is_complete(plan.players.size(), common.size());
  profile.features = std::move(all.features);
  profile.pairs = std::move(all.pairs);
  profile.widest_interval = all.widest_interval;
  profile.full_gain = cells.means()[0] - cells.means()[1];  // {} and all come first
  drop_unseen_pairs(profile);
  if (!profile.coverage.exhaustive) {
    profile.warnings.push_back(
        {"partial_coverage", fmt::format("{} of 2^{} coalitions are common to all images: U is an upper "
                                         "bound, Lmax, S and R are lower bounds",
                                         common.size(), plan.players.size())});
  }
  if (plan.interval == "montecarlo" && !plan.exact && profile.features[0].pi.value &&
      !profile.features[0].pi.low)
    warn_without_interval(profile, plan);
  return {std::move(profile), verdict};
}

}  // namespace

Profile mean_profile(const RunPlan& plan, const std::vector<ImageRecord>& records, const std::string& pairs,
                     Workers& workers) {
  return mean_of(plan, records, pairs, workers).profile;
}

Profile image_profile(const RunPlan& plan, const std::vector<ImageRecord>& records, const std::string& pairs,
                      Workers& workers) {
  auto [profile, of_all] = mean_of(plan, records, pairs, workers);
  const ScanOptions options{.tie_tolerance = plan.tie_tolerance, .pairs = parse_pairs(pairs, plan.players)};
  const std::size_t fills = plan.draws / plan.instances;
  const VerdictOptions verdict{.threshold = of_all.threshold, .loss_scale = of_all.loss_scale};
  const RunPlan one = plan_of_one(plan);
  profile.instances.resize(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    const ImageCells& own = records[i].grids[0];
    Lattice alone = Lattice::zeros(own.coalitions.size(), one.instance_blocks, 0, 0);
    alone.draws = one.draws;
    add_losses(alone, own, own.coalitions, fills, [&](std::size_t f) { return f % one.instance_blocks; });
    if (one.round_blocks > 0) alone.sums.round = alone.instance;
    Profile numbers = numbers_of(one, own.coalitions, alone, options, verdict, workers);
    std::erase_if(numbers.pairs, [](const PairProfile& p) { return p.contexts_seen == 0; });
    Json details = Json::parse(records[i].details);
    const std::string name = details["image"];
    details.erase("image");
    profile.instances[i] = {.row = records[i].image,
                            .image = name,
                            .details = details.dump(),
                            .features = std::move(numbers.features),
                            .pairs = std::move(numbers.pairs)};
  }
  return profile;
}

ImageSummary summarise(const RunPlan& plan, const std::vector<ImageRecord>& records) {
  constexpr std::size_t kShown = 12;
  const Json provenance = Json::parse(plan.provenance);
  std::vector<double> map(plan.players.size());
  double image = 0, fill = 0, image_logit = 0, fill_logit = 0;
  bool probabilities = true;
  std::uint64_t calls = 0;
  TextRows rows = {{"image", "class", "answer", "pure fill", "strongest", "regions: redundant", "synergy"}};
  const auto count = static_cast<double>(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Json details = Json::parse(records[i].details);
    const Json& answer = details["answer"];
    calls += details["calls"].get<std::uint64_t>();
    const auto& values = details["map"]["values"];
    for (std::size_t p = 0; p < map.size(); ++p) map[p] += values[p].get<double>() / count;
    probabilities = probabilities && !answer["image"]["probability"].is_null();
    image +=
        answer["image"]["probability"].is_null() ? 0 : answer["image"]["probability"].get<double>() / count;
    fill += answer["fill"]["probability"].is_null() ? 0 : answer["fill"]["probability"].get<double>() / count;
    image_logit += answer["image"]["logit"].get<double>() / count;
    fill_logit += answer["fill"]["logit"].get<double>() / count;
    if (i >= kShown) continue;
    double r = 0, s = 0;
    for (const Json& pair : details["region_pairs"]) {
      r = std::max(r, pair["R"].get<double>());
      s = std::max(s, pair["S"].get<double>());
    }
    const char* key = probabilities ? "probability" : "logit";
    rows.push_back({short_name(details["image"]), short_name(details["class"]),
                    fmt::format("{:.3f}", answer["image"][key].get<double>()),
                    fmt::format("{:.3f}", answer["fill"][key].get<double>()),
                    details["regions"].empty() ? "-" : details["regions"][0]["seed"].get<std::string>(),
                    fmt::format("{:.3g}", r), fmt::format("{:.3g}", s)});
  }
  const Json json = {
      {"images", records.size()},
      {"of", plan.rows},
      {"calls", calls},
      {"fill", provenance["background"]["description"]},
      {"answer",
       {{"image", {{"probability", probabilities ? Json(image) : Json(nullptr)}, {"logit", image_logit}}},
        {"fill", {{"probability", probabilities ? Json(fill) : Json(nullptr)}, {"logit", fill_logit}}}}},
      {"map", {{"name", kDefaultMap}, {"values", map}}}};
  std::string text = "\n" + aligned(rows, {true, true, false, false, true, false, false});
  if (records.size() > kShown)
    text += fmt::format("  .. and {} more; --json has all\n", records.size() - kShown);
  const std::string which = records.size() < plan.rows ? fmt::format("{} of {} images, as --precision asks",
                                                                     records.size(), plan.rows)
                            : records.size() == 1      ? "1 image"
                                                       : fmt::format("{} images", records.size());
  text += fmt::format("  • {}, {:.0f} model calls each; absent patches show {}\n", which,
                      static_cast<double>(calls) / count,
                      provenance["background"]["description"].get<std::string>());
  text += probabilities
              ? fmt::format("  • the model gives the class {:.3f} on the images and {:.3f} on pure fill\n",
                            image, fill)
              : fmt::format(
                    "  • the model's output for the class is {:.3g} on the images and {:.3g} on pure fill\n",
                    image_logit, fill_logit);
  return {.json = json.dump(), .text = text};
}

}  // namespace hifi
