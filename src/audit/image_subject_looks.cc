#include <fmt/format.h>

#include <filesystem>

#include "audit/image_subject_parts.h"
#include "core/files.h"
#include "core/hash.h"
#include "hifi/error.h"
#include "sampling/budget.h"

namespace hifi {

namespace {

constexpr std::size_t kNoiseDraws = 4;  // of a fill that could be drawn without end
constexpr std::size_t kImageDraws = 8;  // of other images

Look look_at(const ImageSubject& s, const ListedImage& listed) {
  const std::string content = read_file(listed.path);
  const Image image = decode_image(content, listed.path, s.request.max_memory);
  check_boxes(listed, image);
  Look look{.hash = hex_hash(content)};
  look.content = look.hash;
  if (s.request.fill == "data-mean") look.mean = channel_means(s.recipe.fit_image(image));
  if (s.request.segments.empty()) return look;
  const std::string path = mask_path(s, listed);
  if (!std::filesystem::exists(path)) {
    throw input_error(fmt::format("{}: there is no such mask for the image {}", path, listed.name),
                      "--segments is a folder with a mask NAME.png for every image");
  }
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

}  // namespace

std::string mask_path(const ImageSubject& s, const ListedImage& image) {
  const auto stem = std::filesystem::path(image.name).stem().string();
  return (std::filesystem::path(s.request.segments) / (stem + ".png")).string();
}

std::vector<Look> look_at_all(const ImageSubject& s, Workers& workers) {
  std::vector<Look> looks(s.images());
  workers.parallel_for(s.images(), [&](std::size_t i) { looks[i] = look_at(s, s.list.images[i]); });
  return looks;
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

}  // namespace hifi
