#include "audit/image_maps.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/files.h"
#include "data/npy.h"
#include "report/overlay.h"

namespace hifi {

namespace {

// Names of maps painted from the same numbers once.
using Painted = std::map<std::string, std::vector<float>>;

Painted paint_all(const ImageSubject& s, const ImageRecord& record, std::size_t image, Workers& workers) {
  const std::vector<PatchSet> own = s.segments(image);
  const std::vector<PatchSet>& sets = own.empty() ? s.grids : own;
  Painted painted;
  for (std::size_t g = 0; g < record.grids.size(); ++g) {
    const Patches& patches = sets[g].patches;
    const PatchValues values =
        patch_values(patches.players(), s.plans[g], record.grids[g].means(s.fill_draws), workers);
    for (const char* name : kMapNames) {
      const std::vector<float> map = paint(patches, values.map(name));
      std::vector<float>& sum = painted[name];
      sum.resize(map.size());
      for (std::size_t p = 0; p < map.size(); ++p) sum[p] += map[p] / static_cast<float>(record.grids.size());
    }
  }
  return painted;
}

}  // namespace

std::vector<float> image_map(const ImageSubject& subject, const ImageRecord& record, std::size_t image,
                             const std::string& name, Workers& workers) {
  return paint_all(subject, record, image, workers).at(name);
}

void write_maps(const ImageSubject& s, const std::vector<ImageRecord>& records, const std::string& folder,
                const std::string& shown, Workers& workers) {
  std::map<std::string, std::size_t> times;
  for (const ListedImage& image : s.list.images) ++times[image.name];
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::size_t image = records[i].image;
    const ListedImage& listed = s.list.images[image];
    std::string stem = std::filesystem::path(listed.name).stem().string();
    if (times[listed.name] > 1) stem += "." + listed.label;
    std::replace(stem.begin(), stem.end(), '/', '_');
    const Painted painted = paint_all(s, records[i], image, workers);
    const Image file = read_image(listed.path);
    std::vector<Box> boxes;
    for (const Box& box : listed.boxes) boxes.push_back(s.recipe.fit_box(box, file.height, file.width));
    const auto path = [&](const std::string& end) {
      return (std::filesystem::path(folder) / (stem + end)).string();
    };
    std::vector<NewFile> files{
        {path(".png"), encode_png(overlay(s.recipe.fit_image(file), painted.at(shown), boxes))}};
    for (const auto& [name, map] : painted)
      files.push_back({path("." + name + ".npy"), npy_bytes(map, {s.recipe.height, s.recipe.width})});
    write_files(files);
  }
}

}  // namespace hifi
