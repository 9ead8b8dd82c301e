// BBox_List_2017.csv of NIH ChestX-ray14: boxes of findings in pixels of the image files.
#pragma once

#include <string>
#include <vector>

#include "data/recipe.h"

namespace hifi {

struct NihImage {
  std::string name;        // of the file
  std::string finding;     // its first in the list
  std::vector<Box> boxes;  // of that finding
  std::string place;       // of the first row, for messages
};

struct NihBoxes {
  std::vector<NihImage> images;  // in order of the list
  std::size_t boxes = 0;         // rows
};

// Throws Error(input) naming the line: fewer than six fields, something else than numbers, a box without
// size.
NihBoxes read_nih_boxes(const std::string& path);
NihBoxes parse_nih_boxes(const std::string& text, const std::string& path);

}  // namespace hifi
