// Which images: a file, a folder, or the images that a table of labels names.
#pragma once

#include <string>
#include <vector>

#include "data/recipe.h"

namespace hifi {

struct ListedImage {
  std::string name;  // as in the labels, or the name of the file
  std::string path;
  std::string label;  // as in the table; empty without one
  std::vector<Box> boxes;
  std::vector<std::string> box_places;  // of their rows, for messages
  std::string place;                    // of its first row
};

struct ImageList {
  std::vector<ListedImage> images;   // by label table order, else by name
  std::vector<std::string> missing;  // named in the table, not in the folder
  std::size_t unlabelled = 0;        // in the folder, not in the table
};

// `labels` is a table with the columns image, label and optionally x, y, w, h (a box in pixels of the file),
// or empty; rows of the same image and label are boxes of one finding. Throws Error(input): no such file or
// folder, no image in it, none left, a column missing, a box without size.
ImageList list_images(const std::string& images, const std::string& labels);

// Throws Error(input) that names the row if a box does not lie within its image.
void check_boxes(const ListedImage& listed, const Image& image);

}  // namespace hifi
