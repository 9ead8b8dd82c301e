#include "data/image_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "data/table.h"
#include "hifi/error.h"

namespace hifi {

namespace {

namespace fs = std::filesystem;

bool is_image_name(const fs::path& path) {
  std::string suffix = path.extension().string();
  std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return suffix == ".png" || suffix == ".jpg" || suffix == ".jpeg";
}

// Sorted, so that the order does not depend on the file system.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (entry->is_regular_file() && is_image_name(entry->path()))
      names.push_back(entry->path().filename().string());
  }
  if (error) throw input_error(fmt::format("{}: {}", folder, error.message()));
  std::sort(names.begin(), names.end());
  return names;
}

std::string text_at(const Column& column, std::size_t row) {
  const double value = column.values[row];
  return std::isnan(value) ? "" : column.dictionary[static_cast<std::size_t>(value)];
}

Table read_labels(const std::string& path) {
  try {
    Table table = read_table(path, {.text_columns = {"image", "label"}});
    table.require("image");
    table.require("label");
    return table;
  } catch (const Error& error) {
    throw Error(error.code(), error.what(),
                error.hint().empty() ? "labels have the columns image, label and, for boxes, x, y, w, h"
                                     : error.hint());
  }
}

// The columns of a table of labels.
class LabelTable {
 public:
  explicit LabelTable(const std::string& path)
      : table_(read_labels(path)), image_(table_.require("image")), label_(table_.require("label")) {
    for (const char* side : {"x", "y", "w", "h"}) {
      if (table_.find(side) != nullptr) box_.push_back(&table_.require_number(side));
    }
    if (!box_.empty() && box_.size() != 4) {
      throw input_error(fmt::format("{}: boxes need all of the columns x, y, w and h", path));
    }
    if (table_.rows == 0) throw input_error(fmt::format("{}: has no rows", path));
  }

  std::size_t rows() const { return table_.rows; }
  std::string place(std::size_t row) const { return table_.source + ": " + table_.row_name(row); }

  std::string image(std::size_t row) const {
    const std::string name = text_at(image_, row);
    if (name.empty()) throw input_error(fmt::format("{}: no image is named", place(row)));
    return name;
  }
  std::string label(std::size_t row) const {
    const std::string name = text_at(label_, row);
    if (name.empty()) throw input_error(fmt::format("{}: the label is missing", place(row)));
    return name;
  }
  // A row without numbers has no box.
  void add_box(std::size_t row, ListedImage& image) const {
    if (box_.empty()) return;
    const auto side = [&](std::size_t k) { return box_[k]->values[row]; };
    std::size_t given = 0;
    for (std::size_t k = 0; k < 4; ++k) given += std::isnan(side(k)) ? 0 : 1;
    if (given == 0) return;
    if (given < 4 || !(side(2) > 0) || !(side(3) > 0)) {
      throw input_error(fmt::format("{}: the box is incomplete or has no size", place(row)));
    }
    image.boxes.push_back({side(0), side(1), side(2), side(3)});
    image.box_places.push_back(place(row));
  }

 private:
  Table table_;
  const Column& image_;
  const Column& label_;
  std::vector<const Column*> box_;
};

}  // namespace

ImageList list_images(const std::string& images, const std::string& labels) {
  std::error_code error;
  const bool folder = fs::is_directory(images, error);
  if (!fs::exists(images, error))
    throw input_error(fmt::format("{}: there is no such file or folder", images));
  const fs::path root = folder ? fs::path(images) : fs::path(images).parent_path();
  const std::vector<std::string> names =
      folder ? names_in(images) : std::vector{fs::path(images).filename().string()};
  if (names.empty()) throw input_error(fmt::format("{}: has no PNG or JPEG image", images));
  ImageList list;
  if (labels.empty()) {
    for (const std::string& name : names)
      list.images.push_back({.name = name, .path = (root / name).string()});
    return list;
  }
  const LabelTable table(labels);
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  std::set<std::string> named;
  std::set<std::string> missing;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string name = table.image(row);
    const std::string label = table.label(row);
    named.insert(name);
    const std::string path = (root / name).string();
    const bool here = folder ? fs::is_regular_file(path, error) : name == names[0];
    if (!here) {
      if (missing.insert(name).second && folder) list.missing.push_back(name);
      continue;
    }
    const auto [place, fresh] = places.try_emplace({name, label}, list.images.size());
    if (fresh) list.images.push_back({.name = name, .path = path, .label = label, .place = table.place(row)});
    table.add_box(row, list.images[place->second]);
  }
  for (const std::string& name : names) list.unlabelled += named.contains(name) ? 0 : 1;
  if (list.images.empty()) {
    throw input_error(fmt::format("{}: none of its images is in {}", labels, images),
                      fmt::format("the first is \"{}\"", table.image(0)));
  }
  return list;
}

void check_boxes(const ListedImage& listed, const Image& image) {
  for (std::size_t k = 0; k < listed.boxes.size(); ++k) {
    const Box& box = listed.boxes[k];
    // Half a pixel: boxes are often rounded.
    if (box.x < -.5 || box.y < -.5 || box.x + box.width > static_cast<double>(image.width) + .5 ||
        box.y + box.height > static_cast<double>(image.height) + .5) {
      throw input_error(fmt::format(
          "{}: the box {:g},{:g},{:g},{:g} (x,y,w,h) reaches out of {}, which has {} x {} pixels",
          listed.box_places[k], box.x, box.y, box.width, box.height, listed.name, image.width, image.height));
    }
  }
}

}  // namespace hifi
