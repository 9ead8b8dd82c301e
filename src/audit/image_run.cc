#include "audit/image_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "audit/image_profile.h"
#include "audit/image_work.h"
#include "core/interrupt.h"
#include "core/random.h"
#include "core/version.h"
#include "hifi/error.h"
#include "vocabulary/lattice_store.h"

namespace hifi {

RunPlan image_plan(const ImageSubject& s, std::size_t look) {
  constexpr std::size_t kBlocks = 32;
  constexpr std::size_t kPopulation = 20;  // images from which on they are taken as a sample
  constexpr std::size_t kFirstLook = 32;
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
  plan.evaluations = s.budget;
  plan.look = look;
  plan.shard = s.shard.index;
  plan.shards = s.shard.count;
  plan.search.coalitions = s.offsets();  // grids of an image
  plan.rows = s.images();
  plan.instances = look == 0 ? plan.rows : std::min<std::uint64_t>(plan.rows, kFirstLook << (look - 1));
  plan.draws = plan.instances * s.fill_draws;
  plan.exact = s.all_fills && plan.instances == plan.rows;
  plan.pairs = s.all_fills ? plan.rows * s.fill_draws : 0;
  plan.instance_blocks = std::min<std::size_t>(kBlocks, plan.instances);
  plan.instance_weights.assign(plan.instance_blocks, 0);
  for (std::size_t i = 0; i < plan.instances; ++i)
    plan.instance_weights[i % plan.instance_blocks] += s.fill_draws;
  if (plan.instances < plan.rows) {  // some images of those given are draws of them
    plan.round_blocks = plan.instance_blocks;
    plan.round_weights = plan.instance_weights;
  }
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

std::vector<std::size_t> audited_images(const RunPlan& plan) {
  std::vector<std::size_t> images;
  if (plan.look > 0) {
    const auto order = RandomStream(plan.seed, Purpose::instance_order).permutation(plan.rows);
    images.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(plan.instances));
    return images;
  }
  for (std::size_t i = plan.begin_image(); i < plan.end_image(); ++i) images.push_back(i);
  return images;
}

namespace {

// The images of a run that are finished, and what finishes the others.
class ImageRun {
 public:
  ImageRun(const ImageSubject& subject, RunFile* file, Workers& workers, const Progress::Listener& listener)
      : s_(subject),
        file_(file),
        workers_(workers),
        network_(*subject.model.network, subject.recipe.channels_first),
        store_(subject.offsets(), subject.fill_draws),
        done_(subject.images()),
        progress_(subject.own_images() * subject.calls(), 0, listener) {
    for (std::size_t g = 0; g < s_.offsets(); ++g)
      players_.push_back(s_.grids.empty() ? s_.players.size() : s_.grids[g].patches.players());
  }

  // Until the images of the plan are there.
  void finish(const RunPlan& plan) {
    for (const std::size_t image : audited_images(plan)) {
      if (done_[image]) continue;
      add(image);
      progress_.advance(s_.calls());
    }
    std::sort(records.begin(), records.end(),
              [](const ImageRecord& a, const ImageRecord& b) { return a.image < b.image; });
  }

  std::vector<ImageRecord> records;

 private:
  void add(std::size_t image) {
    std::optional<ImageRecord> record;
    if (file_ != nullptr) record = store_.read(*file_, image, players_);
    if (!record) {
      check_interrupt();
      record = audit(image);
      if (file_ != nullptr) store_.save(*file_, image, *record);
    }
    records.push_back(std::move(*record));
    done_[image] = true;
  }

  ImageRecord audit(std::size_t image) {
    try {
      return audit_image(s_, network_, image, workers_);
    } catch (const Error& error) {
      const std::string& name = s_.list.images[image].name;
      const std::string what = error.what();
      throw Error(error.code(), what.find(name) != std::string::npos ? what : name + ": " + what,
                  error.hint());
    }
  }

  const ImageSubject& s_;
  RunFile* file_;
  Workers& workers_;
  ImageNetwork network_;
  ImageStore store_;
  std::vector<std::size_t> players_;  // of each grid
  std::vector<bool> done_;
  Progress progress_;
};

}  // namespace

std::vector<ImageRecord> run_images(const ImageSubject& s, RunPlan& plan, RunFile* file, Workers& workers,
                                    const Progress::Listener& listener) {
  ImageRun run(s, file, workers, listener);
  for (;;) {
    run.finish(plan);
    if (plan.look == 0 || plan.instances == plan.rows) break;
    if (Precision::parse(s.request.precision).is_met(mean_profile(plan, run.records, "none", workers))) break;
    plan = image_plan(s, plan.look + 1);
    if (file != nullptr) file->commit([&] { file->put_text("plan", plan.to_json()); });
  }
  if (file != nullptr) file->commit([&] { file->put_text("position", kDone); });
  return std::move(run.records);
}

std::vector<ImageRecord> read_images(const RunFile& file, const RunPlan& plan) {
  const ImageStore store(plan.search.coalitions, plan.draws / plan.instances);
  const std::size_t players[] = {plan.players.size()};
  std::vector<ImageRecord> records;
  std::vector<std::size_t> images = audited_images(plan);
  std::sort(images.begin(), images.end());
  for (const std::size_t i : images) {
    auto record = store.read(file, i, players);
    if (!record)
      throw input_error(fmt::format("{}: the run file lacks image {}", file.path(), i), "compute it again");
    records.push_back(std::move(*record));
  }
  return records;
}

}  // namespace hifi
