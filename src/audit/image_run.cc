#include "audit/image_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "audit/image_work.h"
#include "core/interrupt.h"
#include "core/version.h"
#include "hifi/error.h"
#include "vocabulary/lattice_store.h"

namespace hifi {

RunPlan image_plan(const ImageSubject& s) {
  constexpr std::size_t kBlocks = 32;
  constexpr std::size_t kPopulation = 20;  // images from which on they are taken as a sample
  RunPlan plan;
  plan.version = version();
  plan.players = s.players;
  const bool value_game =
      s.reading.measure == ClassMeasure::probability || s.reading.measure == ClassMeasure::logit;
  plan.loss = s.request.loss.empty() ? "log" : s.request.loss;
  plan.measure = value_game ? "prediction" : "loss";
  plan.options = s.request.to_json();
  plan.provenance = s.provenance;
  plan.policy = "images";
  plan.seed = s.request.seed;
  plan.evaluations = s.calls();
  plan.search.coalitions = s.offsets();  // grids of an image
  plan.rows = plan.instances = s.images();
  plan.draws = s.images() * s.fill_draws;
  plan.exact = s.all_fills;
  plan.pairs = s.all_fills ? plan.draws : 0;
  plan.instance_blocks = std::min(kBlocks, s.images());
  plan.instance_weights.assign(plan.instance_blocks, 0);
  for (std::size_t i = 0; i < s.images(); ++i)
    plan.instance_weights[i % plan.instance_blocks] += s.fill_draws;
  plan.background_blocks = 1;
  plan.background_weights = {plan.draws};
  plan.population = Population::instances;
  plan.batch_rows = s.model.network->info().rows;
  plan.tie_tolerance = kImageTies;
  plan.loss_range = s.reading.range();
  plan.interval = !s.request.interval.empty() ? s.request.interval
                  : s.images() >= kPopulation ? "population"
                                              : "montecarlo";
  plan.confidence = s.request.confidence;
  plan.warnings = s.warnings;
  return plan;
}

std::vector<ImageRecord> run_images(const ImageSubject& s, RunFile* file, Workers& workers,
                                    const Progress::Listener& listener) {
  ImageNetwork network(*s.model.network, s.recipe.channels_first);
  const ImageStore store(s.offsets(), s.fill_draws);
  std::vector<std::size_t> players;
  for (std::size_t g = 0; g < s.offsets(); ++g)
    players.push_back(s.grids.empty() ? s.players.size() : s.grids[g].patches.players());
  std::vector<std::optional<ImageRecord>> records(s.images());
  for (std::size_t i = 0; i < s.images() && file != nullptr; ++i) records[i] = store.read(*file, i, players);
  const auto already = static_cast<std::uint64_t>(
      std::count_if(records.begin(), records.end(), [](const auto& record) { return record.has_value(); }));
  Progress progress(s.images() * s.calls(), already * s.calls(), listener);
  for (std::size_t i = 0; i < s.images(); ++i) {
    if (records[i]) continue;
    check_interrupt();
    try {
      records[i] = audit_image(s, network, i, workers);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}: {}", s.list.images[i].name, error.what()), error.hint());
    }
    if (file != nullptr) store.save(*file, i, *records[i]);
    progress.advance(s.calls());
  }
  if (file != nullptr) file->commit([&] { file->put_text("position", kDone); });
  std::vector<ImageRecord> finished;
  for (auto& record : records) finished.push_back(std::move(*record));
  return finished;
}

std::vector<ImageRecord> read_images(const RunFile& file, const RunPlan& plan) {
  const ImageStore store(plan.search.coalitions, plan.draws / plan.instances);
  const std::size_t players[] = {plan.players.size()};
  std::vector<ImageRecord> records;
  for (std::size_t i = 0; i < plan.instances; ++i) {
    auto record = store.read(file, i, players);
    if (!record)
      throw input_error(fmt::format("{}: the run file lacks image {}", file.path(), i), "compute it again");
    records.push_back(std::move(*record));
  }
  return records;
}

}  // namespace hifi
