#include "audit/image_record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "hifi/error.h"
#include "vocabulary/cell_store.h"

namespace hifi {

namespace {

ImageCells read_cells(const RunFile& file, std::size_t phase, std::size_t players, std::size_t width) {
  ImageCells cells;
  file.for_each_cell(phase, players, width, [&](const Coalition& c, std::span<const double> values) {
    cells.coalitions.push_back(c);
    cells.values.insert(cells.values.end(), values.begin(), values.end());
  });
  const bool sane = cells.coalitions.size() >= 2 && cells.coalitions[0].count() == 0 &&
                    cells.coalitions[1].count() == players;
  if (!sane)
    throw input_error(fmt::format("{}: the run file lacks cells of an image", file.path()),
                      "compute it again");
  return cells;
}

}  // namespace

PatchVocabulary ImageCells::means(std::size_t fills) const {
  PatchVocabulary vocabulary{.coalitions = coalitions};
  for (std::size_t k = 0; k < coalitions.size(); ++k) {
    double sums[2] = {0, 0};
    for (std::size_t v = 0; v < 2 * fills; ++v) sums[v / fills] += values[k * 2 * fills + v];
    vocabulary.losses.push_back(sums[0] / static_cast<double>(fills));
    vocabulary.logits.push_back(sums[1] / static_cast<double>(fills));
  }
  return vocabulary;
}

void ImageStore::save(RunFile& file, std::size_t image, const ImageRecord& record) const {
  file.commit([&] {
    for (std::size_t g = 0; g < grids_; ++g) {
      const ImageCells& cells = record.grids[g];
      for (std::size_t k = 0; k < cells.coalitions.size(); ++k)
        file.put_cell(kInstancePhase + image * grids_ + g, k, cells.coalitions[k],
                      std::span(cells.values).subspan(k * width_, width_));
    }
    file.put_text(image_key(image), record.details);
  });
}

std::optional<ImageRecord> ImageStore::read(const RunFile& file, std::size_t image,
                                            std::span<const std::size_t> players) const {
  const auto text = file.text(image_key(image));
  if (!text) return std::nullopt;
  if (!nlohmann::json::accept(*text))
    throw input_error(fmt::format("{}: what the run file tells of image {} is broken", file.path(), image),
                      "compute it again");
  ImageRecord record{.image = image, .details = *text};
  for (std::size_t g = 0; g < players.size(); ++g)
    record.grids.push_back(read_cells(file, kInstancePhase + image * grids_ + g, players[g], width_));
  return record;
}

}  // namespace hifi
