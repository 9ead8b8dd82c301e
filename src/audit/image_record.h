// What is kept of an image when it is finished, in memory and in the run file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audit/patch_values.h"
#include "vocabulary/run_file.h"

namespace hifi {

// The cells of one grid of an image: for every coalition the loss at each fill, then minus the log-odds at
// each fill.
struct ImageCells {
  std::vector<Coalition> coalitions;  // {} and all first
  std::vector<double> values;         // coalitions x (2 fills)

  PatchVocabulary means(std::size_t fills) const;
};

struct ImageRecord {
  std::size_t image = 0;  // its place in the list
  std::vector<ImageCells> grids;
  std::string details;  // JSON: the class, the answers, the map, the regions
};

// The records of a run in its file.
class ImageStore {
 public:
  // Every image has `grids` grids and is shown with `fills` fills.
  ImageStore(std::size_t grids, std::size_t fills) : grids_(grids), width_(2 * fills) {}

  // In one piece.
  void save(RunFile& file, std::size_t image, const ImageRecord& record) const;
  // The first grids of an image, as many as `players` has numbers: the players of each. Nothing if the image
  // is not finished. Throws Error(input) if cells are missing or damaged.
  std::optional<ImageRecord> read(const RunFile& file, std::size_t image,
                                  std::span<const std::size_t> players) const;

 private:
  std::size_t grids_;
  std::size_t width_;
};

}  // namespace hifi
