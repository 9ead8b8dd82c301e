#include "audit/image_subject.h"

#include <fmt/format.h>

#include "audit/image_subject_parts.h"
#include "core/files.h"
#include "core/hash.h"
#include "hifi/error.h"

namespace hifi {

std::uint64_t ImageSubject::calls() const {
  std::uint64_t coalitions = 0;
  for (std::size_t g = 0; g < plans.size(); ++g) {
    const PatchPlan& plan = plans[g];
    const bool later = g == 0 && plan.kind != PatchPlan::Kind::all;
    coalitions += (plan.kind == PatchPlan::Kind::search ? plan.search : plan.coalitions.size()) +
                  (later ? kChosenLater : 0);
  }
  return coalitions * fill_draws;
}

std::string ImageSubject::class_name(std::size_t number) const {
  return classes.empty() ? std::to_string(number) : classes[number];
}

Planes ImageSubject::fitted(std::size_t image) const {
  const std::string& path = list.images[image].path;
  const std::string content = read_file(path);
  if (hex_hash(content) != hashes[image]) {
    throw input_error(fmt::format("{}: has changed since the run began", path),
                      "give back the file of then, or start a new run");
  }
  return recipe.fit_image(decode_image(content, path, request.max_memory));
}

ImageInput ImageSubject::input(std::size_t image) const {
  const Planes planes = fitted(image);
  ImageInput input{.image = recipe.normalise(planes)};
  const std::uint64_t key =
      hash_numbers(std::vector<double>(planes.values.begin(), planes.values.end()), 0).low;
  for (std::size_t draw = 0; draw < fill_draws; ++draw)
    input.fills.push_back(recipe.normalise(fills->make(planes, key, draw)));
  return input;
}

std::vector<PatchSet> ImageSubject::segments(std::size_t image) const {
  std::vector<PatchSet> sets;
  if (labels.empty()) return sets;
  sets.push_back(
      {.patches = segment_patches(read_image(mask_path(*this, list.images[image])), labels, recipe)});
  sets[0].mask = std::make_unique<PatchMask>(sets[0].patches, feather);
  return sets;
}

ImageSubject open_image_subject(const ImageRequest& request, Workers& workers, const Shard& shard,
                                const std::optional<std::uint64_t>& budget) {
  // What is cheap to check comes first.
  Fill::parse(request.fill);
  if (request.segments.empty()) Grid::parse(request.grid);
  std::optional<Recipe> recipe;
  if (!request.recipe.empty()) recipe = Recipe::open(request.recipe);
  ImageSubject s{.request = request, .list = list_images(request.images, request.labels)};
  s.shard = shard;
  if (shard.count > s.images()) {
    throw input_error(fmt::format("--shard {}/{}: there are {} images, so at most as many shards",
                                  shard.index, shard.count, s.images()));
  }
  s.model = open_image_model(request, recipe);
  s.recipe = recipe ? *recipe : Recipe::of_shape(s.model.network->info().inputs[0].shape, request.model);
  check_input(s);
  s.reading.measure = parse_class_measure(request.loss.empty() ? "log" : request.loss).value();
  s.reading.link = request.link == "softmax"   ? Link::softmax
                   : request.link == "sigmoid" ? Link::sigmoid
                                               : Link::none;
  read_classes(s);
  std::size_t offsets = request.offsets.value_or(usual_offsets(request));
  if (offsets > 1 && (request.exact || !request.segments.empty())) {
    throw Error(ErrorCode::usage,
                fmt::format("--offsets {}: not with {}", offsets, request.exact ? "--exact" : "--segments"));
  }
  const std::vector<Look> looks = look_at_all(s, workers);
  for (const Look& look : looks) s.hashes.push_back(look.content);
  make_patches(s, looks, offsets);
  const std::string fill_hash = make_fills(s, looks, workers);
  s.bytes += s.model.network->info().bytes * workers.threads();
  try_model(s, workers);
  choose_budget(s, budget);
  if (!request.offsets) offsets = affordable_offsets(s, offsets);
  make_plans(s, offsets);
  describe(s, looks, fill_hash);
  return s;
}

}  // namespace hifi
