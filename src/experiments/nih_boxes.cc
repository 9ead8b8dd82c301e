#include "experiments/nih_boxes.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>
#include <unordered_map>

#include "core/files.h"
#include "hifi/error.h"

namespace hifi {
namespace {

// Fields have neither quotes nor commas in them; the header has (its column is called "Bbox [x,y,w,h]").
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

double number(const std::string& text, const std::string& place) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw input_error(fmt::format("{}: \"{}\" is no number", place, text),
                      "rows are image,finding,x,y,width,height");
  return value;
}

}  // namespace

NihBoxes parse_nih_boxes(const std::string& text, const std::string& path) {
  NihBoxes result;
  std::unordered_map<std::string, std::size_t> known;
  std::istringstream stream(text);
  std::string line;
  for (std::size_t row = 1; std::getline(stream, line); ++row) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ',')) line.pop_back();
    if (row == 1) {
      if (!line.starts_with("Image Index,Finding Label"))
        throw input_error(fmt::format("{}: does not begin with \"Image Index,Finding Label\"", path),
                          "the file is BBox_List_2017.csv of NIH ChestX-ray14");
      continue;
    }
    if (line.empty()) continue;
    const std::string place = fmt::format("{} line {}", path, row);
    const auto fields = fields_of(line);
    if (fields.size() != 6)
      throw input_error(fmt::format("{}: has {} fields instead of 6", place, fields.size()),
                        "rows are image,finding,x,y,width,height");
    const Box box{number(fields[2], place), number(fields[3], place), number(fields[4], place),
                  number(fields[5], place)};
    if (box.width <= 0 || box.height <= 0) throw input_error(fmt::format("{}: the box has no size", place));
    ++result.boxes;
    const auto [at, fresh] = known.emplace(fields[0], result.images.size());
    if (fresh) result.images.push_back({fields[0], fields[1], {}, place});
    NihImage& image = result.images[at->second];
    if (image.finding == fields[1]) image.boxes.push_back(box);
  }
  if (result.images.empty()) throw input_error(fmt::format("{}: has no boxes", path));
  return result;
}

NihBoxes read_nih_boxes(const std::string& path) { return parse_nih_boxes(read_file(path), path); }

}  // namespace hifi
