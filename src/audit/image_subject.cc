#include "audit/image_subject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "audit/image_subject_parts.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/version.h"
#include "hifi/error.h"
#include "sampling/budget.h"

namespace hifi {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kNoiseDraws = 4;  // of a fill that could be drawn without end
constexpr std::size_t kImageDraws = 8;  // of other images
constexpr std::size_t kMostExact = 20;  // players

std::string mask_path(const ImageSubject& s, const ListedImage& image) {
  const auto stem = std::filesystem::path(image.name).stem().string();
  return (std::filesystem::path(s.request.segments) / (stem + ".png")).string();
}

// What one look at every image gives.
struct Look {
  std::string hash;
  std::vector<double> mean;           // per channel of the fitted image
  std::vector<std::uint32_t> labels;  // of its segments
};

Look look_at(const ImageSubject& s, const ListedImage& listed) {
  const std::string content = read_file(listed.path);
  const Image image = decode_image(content, listed.path, s.request.max_memory);
  check_boxes(listed, image);
  Look look{.hash = hex_hash(content)};
  if (s.request.fill == "data-mean") look.mean = channel_means(s.recipe.fit_image(image));
  if (s.request.segments.empty()) return look;
  const std::string path = mask_path(s, listed);
  const std::string bytes = read_file(path);
  const Image mask = decode_image(bytes, path, s.request.max_memory);
  if (mask.height != image.height || mask.width != image.width) {
    throw input_error(fmt::format("{}: has {} x {} pixels, its image {} x {}", path, mask.width, mask.height,
                                  image.width, image.height));
  }
  look.labels = mask_labels(mask, path);
  look.hash += hex_hash(bytes);
  return look;
}

std::vector<Look> look_at_all(const ImageSubject& s, Workers& workers) {
  std::vector<Look> looks(s.images());
  workers.parallel_for(s.images(), [&](std::size_t i) { looks[i] = look_at(s, s.list.images[i]); });
  return looks;
}

// ---- patches

std::vector<std::pair<bool, bool>> shifts_of(std::size_t offsets) {
  if (offsets == 1) return {{false, false}};
  if (offsets == 2) return {{false, false}, {true, true}};
  return {{false, false}, {false, true}, {true, false}, {true, true}};
}

double usable_feather(const Patches& patches, double wanted) {
  if (!patches.is_grid()) return wanted;
  const double side =
      std::min(static_cast<double>(patches.height) / static_cast<double>(patches.rows.size() - 1),
               static_cast<double>(patches.width) / static_cast<double>(patches.columns.size() - 1));
  return std::min(wanted, side / 4);  // a patch keeps a middle that is its own
}

void make_patches(ImageSubject& s, const std::vector<Look>& looks, std::size_t offsets) {
  s.feather = s.request.feather;
  if (!s.request.segments.empty()) {
    for (const Look& look : looks) s.labels.insert(s.labels.end(), look.labels.begin(), look.labels.end());
    std::sort(s.labels.begin(), s.labels.end());
    s.labels.erase(std::unique(s.labels.begin(), s.labels.end()), s.labels.end());
    if (s.labels.size() > kMaxPatches) {
      throw input_error(
          fmt::format("{}: {} labels are more than {}", s.request.segments, s.labels.size(), kMaxPatches));
    }
    for (const std::uint32_t label : s.labels) s.players.push_back(fmt::format("s{}", label));
    return;
  }
  s.grid = Grid::parse(s.request.grid);
  for (const auto& [down, across] : shifts_of(offsets)) {
    PatchSet set{.patches = grid_patches(s.grid, s.recipe.height, s.recipe.width, down, across)};
    if (s.grids.empty()) s.feather = usable_feather(set.patches, s.request.feather);
    set.mask = std::make_unique<PatchMask>(set.patches, s.feather);
    s.bytes += set.mask->bytes();
    s.grids.push_back(std::move(set));
  }
  s.players = s.grids[0].patches.names;
}

void make_plans(ImageSubject& s, std::size_t offsets) {
  const std::size_t n = s.players.size();
  if (s.request.exact && n > kMostExact) {
    throw input_error(fmt::format("--exact: 2^{} coalitions of each image are out of reach, the most is 2^{}",
                                  n, kMostExact),
                      "take a smaller --grid, or --budget");
  }
  const std::uint64_t budget = s.request.budget.value_or(kDefaultImageBudget * s.fill_draws);
  const std::uint64_t share = s.request.exact ? std::uint64_t{1} << n : budget / s.fill_draws / offsets;
  const std::uint64_t all = n < 7 ? std::uint64_t{1} << n : UINT64_MAX;
  const std::uint64_t least = std::min<std::uint64_t>(all, kLeastCoalitions + kChosenLater);
  if (share < least) {
    throw input_error(
        fmt::format("--budget {}: too small for any statement, the smallest is {} model calls per image",
                    budget, least * s.fill_draws * offsets));
  }
  for (std::size_t g = 0; g < offsets; ++g) {
    const std::size_t players = s.grids.empty() ? n : s.grids[g].patches.players();
    s.plans.push_back(plan_patches(players, share, g == 0 ? kChosenLater : 0, s.request.seed, g));
  }
}

// ---- fills

std::vector<Planes> other_images(ImageSubject& s, const Fill& fill, std::string& hash, Workers& workers) {
  if (fill.kind != Fill::Kind::images) return {};
  const ImageList others = list_images(fill.folder, "");
  std::vector<Planes> planes(others.images.size());
  const std::uint64_t bytes = planes.size() * s.recipe.pixels() * s.recipe.channels * sizeof(float);
  if (bytes > s.request.max_memory) {
    throw input_error(fmt::format("{}: {} images need {}, more than --max-memory", fill.folder, planes.size(),
                                  human_bytes(bytes)));
  }
  s.bytes += bytes;
  std::vector<std::string> hashes(planes.size());
  workers.parallel_for(planes.size(), [&](std::size_t k) {
    const std::string content = read_file(others.images[k].path);
    hashes[k] = hex_hash(content);
    planes[k] = s.recipe.fit_image(decode_image(content, others.images[k].path, s.request.max_memory));
  });
  for (const std::string& one : hashes) hash += one;
  return planes;
}

std::string make_fills(ImageSubject& s, const std::vector<Look>& looks, Workers& workers) {
  const Fill fill = Fill::parse(s.request.fill);
  std::vector<double> mean(s.recipe.channels);
  for (const Look& look : looks) {
    for (std::size_t c = 0; c < look.mean.size(); ++c)
      mean[c] += look.mean[c] / static_cast<double>(looks.size());
  }
  std::string hash = s.request.fill;
  std::vector<Planes> others = other_images(s, fill, hash, workers);
  s.fills = std::make_unique<Fills>(fill, s.request.seed, std::move(others), mean);
  const std::size_t exist = s.fills->most_draws();
  if (s.request.exact && fill.kind == Fill::Kind::noise) {
    throw input_error("--exact: noise cannot be enumerated", "take another --fill");
  }
  const std::size_t usual = fill.kind == Fill::Kind::noise ? kNoiseDraws : std::min(exist, kImageDraws);
  s.fill_draws = s.request.exact ? exist : s.request.fill_draws.value_or(usual);
  if (s.fill_draws == 0 || s.fill_draws > exist) {
    throw input_error(
        fmt::format("--fill-draws {}: the fill {} has {}", s.fill_draws, s.request.fill, exist));
  }
  s.all_fills = s.fill_draws == exist;
  return hex_hash(hash);
}

void describe(ImageSubject& s, const std::vector<Look>& looks, const std::string& fill_hash) {
  std::string data;
  for (const Look& look : looks) data += look.hash;
  for (const ListedImage& image : s.list.images) data += image.label;
  const NetworkInfo& info = s.model.network->info();
  const std::string fill = s.fills->description(s.recipe.height, s.recipe.width);
  const Json provenance = {
      {"seed", s.request.seed},
      {"version", version()},
      {"model",
       {{"path", s.request.model},
        {"format", s.model.format},
        {"objective", ""},
        {"hash", s.model.hash},
        {"library", info.library},
        {"precision", info.precision},
        {"batch", info.rows}}},
      {"data",
       {{"path", s.request.images},
        {"rows", s.images()},
        {"hash", hex_hash(data)},
        {"target", s.request.labels.empty() ? Json(nullptr) : Json("label")}}},
      {"background",
       {{"kind", s.request.fill}, {"description", fill}, {"rows", s.fill_draws}, {"hash", fill_hash}}},
      {"recipe", Json::parse(s.recipe.to_json())},
      {"patches",
       {{"kind", s.labels.empty() ? "grid" : "segments"},
        {"grid", s.labels.empty() ? Json(s.request.grid) : Json(nullptr)},
        {"offsets", s.offsets()},
        {"feather", s.feather}}}};
  s.provenance = provenance.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (!s.list.missing.empty()) {
    s.warnings.push_back(
        {"missing_images",
         fmt::format("{} image{} of the labels {} not there and skipped: {}", s.list.missing.size(),
                     s.list.missing.size() == 1 ? "" : "s", s.list.missing.size() == 1 ? "is" : "are",
                     fmt::join(s.list.missing, ", "))});
  }
  if (s.list.unlabelled > 0)
    s.notes.push_back(
        fmt::format("{} without a label {} ignored",
                    s.list.unlabelled == 1 ? "1 image" : fmt::format("{} images", s.list.unlabelled),
                    s.list.unlabelled == 1 ? "is" : "are"));
  for (const std::string& note : info.notes) s.notes.push_back(note);
  for (const PatchPlan& plan : s.plans) {
    if (plan.kind == PatchPlan::Kind::search) {
      s.notes.push_back(
          fmt::format("both ends of all patches would cost more than half of the budget: the coalitions of "
                      "each image are searched"));
      break;
    }
  }
  if (s.labels.empty() && s.feather < s.request.feather)
    s.notes.push_back(
        fmt::format("the patches are small: their edges are softened by {:.2g} pixels only", s.feather));
}

}  // namespace

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
  return recipe.fit_image(read_image(list.images[image].path));
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

ImageSubject open_image_subject(const ImageRequest& request, Workers& workers) {
  // What is cheap to check comes first.
  Fill::parse(request.fill);
  if (request.segments.empty()) Grid::parse(request.grid);
  std::optional<Recipe> recipe;
  if (!request.recipe.empty()) recipe = Recipe::open(request.recipe);
  list_images(request.images, request.labels);
  return open_image_subject(request, open_image_model(request, recipe), workers);
}

ImageSubject open_image_subject(const ImageRequest& request, ImageModel model, Workers& workers) {
  ImageSubject s{
      .request = request, .list = list_images(request.images, request.labels), .model = std::move(model)};
  s.recipe = request.recipe.empty() ? Recipe::of_shape(s.model.network->info().inputs[0].shape, request.model)
                                    : Recipe::open(request.recipe);
  check_input(s);
  s.reading.measure = parse_class_measure(request.loss.empty() ? "log" : request.loss).value();
  s.reading.link = request.link == "softmax"   ? Link::softmax
                   : request.link == "sigmoid" ? Link::sigmoid
                                               : Link::none;
  read_classes(s);
  const std::size_t offsets = request.offsets.value_or(request.exact || !request.segments.empty() ? 1 : 2);
  if (offsets > 1 && (request.exact || !request.segments.empty())) {
    throw Error(ErrorCode::usage,
                fmt::format("--offsets {}: not with {}", offsets, request.exact ? "--exact" : "--segments"));
  }
  const std::vector<Look> looks = look_at_all(s, workers);
  make_patches(s, looks, offsets);
  const std::string fill_hash = make_fills(s, looks, workers);
  make_plans(s, offsets);
  s.bytes += s.model.network->info().bytes * workers.threads() + s.calls() * 256 * s.images();
  if (s.bytes > request.max_memory) {
    throw input_error(fmt::format("the run needs {}, more than --max-memory {}", human_bytes(s.bytes),
                                  human_bytes(request.max_memory)),
                      "take fewer images at a time, or a smaller --batch");
  }
  describe(s, looks, fill_hash);
  try_model(s, workers);
  return s;
}

}  // namespace hifi
