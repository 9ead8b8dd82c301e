#include "data/recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "hifi/error.h"

namespace hifi {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLargestSide = 8192;

// torchxrayvision: XRayCenterCrop, XRayResizer(224) with its default engine, normalize(image, max).
constexpr const char* kXrv = R"({"size":[224,224],"fit":"center-crop","interpolation":"skimage",
  "channels":"grey","range":[-1024,1024],"layout":"NCHW"})";
// torchvision: Resize(256), CenterCrop(224), ToTensor, Normalize.
constexpr const char* kImagenet = R"({"size":[224,224],"fit":"center-crop","short_side":256,"channels":"rgb",
  "range":[0,1],"mean":[0.485,0.456,0.406],"std":[0.229,0.224,0.225],"layout":"NCHW"})";

Image grey_of(const Image& image) {
  Image grey{image.height, image.width, 1, image.max, std::vector<std::uint16_t>(image.pixels())};
  for (std::size_t p = 0; p < image.pixels(); ++p) {
    const std::uint16_t* rgb = &image.values[3 * p];
    const std::uint64_t sum = 19595ULL * rgb[0] + 38470ULL * rgb[1] + 7471ULL * rgb[2] + 0x8000;
    grey.values[p] = static_cast<std::uint16_t>(sum >> 16);
  }
  return grey;
}

Planes three_of(Planes grey) {
  const std::size_t size = grey.values.size();
  grey.values.resize(3 * size);
  std::copy_n(grey.values.begin(), size, grey.values.begin() + static_cast<std::ptrdiff_t>(size));
  std::copy_n(grey.values.begin(), size, grey.values.begin() + static_cast<std::ptrdiff_t>(2 * size));
  grey.channels = 3;
  return grey;
}

struct Window {
  std::size_t top, left, height, width;
};

// The largest centred window of the wanted shape. For squares this is torchxrayvision's: start at half the
// side minus half the window, both rounded down.
Window centred(std::size_t height, std::size_t width, const Recipe& recipe) {
  std::size_t h = height;
  std::size_t w = width;
  if (height * recipe.width > width * recipe.height) {
    h = std::max<std::size_t>(1, width * recipe.height / recipe.width);
  } else {
    w = std::max<std::size_t>(1, height * recipe.width / recipe.height);
  }
  return {height / 2 - h / 2, width / 2 - w / 2, h, w};
}

// torchvision's: the longer side is cut to whole pixels.
std::pair<std::size_t, std::size_t> scaled(std::size_t height, std::size_t width, std::size_t side) {
  if (height <= width) return {side, side * width / height};
  return {side * height / width, side};
}

// Python's round: halves go to the even number.
std::size_t half_of(std::size_t difference) {
  return static_cast<std::size_t>(std::nearbyint(static_cast<double>(difference) / 2));
}

class Fields {
 public:
  Fields(const Json& object, const std::string& place) : object_(object), place_(place) {}

  Error wrong(const std::string& field, const std::string& what) const {
    return input_error(fmt::format("{}: field \"{}\": {}", place_, field, what));
  }

  std::string choice(const char* field, const std::string& otherwise,
                     std::initializer_list<const char*> allowed) {
    if (!object_.contains(field)) return otherwise;
    std::string list;
    for (const char* word : allowed) {
      if (object_[field] == word) return word;
      list += (list.empty() ? "" : ", ") + std::string(word);
    }
    throw wrong(field, fmt::format("{} is none of {}", object_[field].dump(), list));
  }

  // Numbers in [low, high]; absent: empty.
  std::vector<double> numbers(const char* field, std::size_t count, double low, double high) {
    if (!object_.contains(field)) return {};
    const Json& list = object_[field];
    std::vector<double> values;
    if (list.is_array()) {
      for (const Json& item : list) {
        if (item.is_number()) values.push_back(item.get<double>());
      }
    }
    const bool good =
        list.is_array() && values.size() == list.size() && values.size() == count &&
        std::all_of(values.begin(), values.end(), [&](double v) { return v >= low && v <= high; });
    if (!good) {
      throw wrong(field, fmt::format("{} must be a list of {} numbers from {:g} to {:g}", list.dump(), count,
                                     low, high));
    }
    return values;
  }

  std::size_t whole(const char* field, double value) const {
    if (value != std::floor(value)) throw wrong(field, fmt::format("{:g} is no whole number", value));
    return static_cast<std::size_t>(value);
  }

 private:
  const Json& object_;
  const std::string& place_;
};

void refuse_unknown_fields(const Json& object, const std::string& place) {
  constexpr const char* kKnown[] = {"size",  "fit",  "short_side", "interpolation", "channels",
                                    "range", "mean", "std",        "layout"};
  for (const auto& [key, value] : object.items()) {
    if (std::find(std::begin(kKnown), std::end(kKnown), key) == std::end(kKnown)) {
      throw input_error(fmt::format("{}: a recipe has no field \"{}\"", place, key),
                        "it has size, fit, short_side, interpolation, channels, range, mean, std, layout");
    }
  }
}

}  // namespace

Recipe Recipe::open(const std::string& name) {
  Recipe recipe = name == "xrv"        ? parse(kXrv, name)
                  : name == "imagenet" ? parse(kImagenet, name)
                                       : parse(read_file(name), name);
  recipe.name = name;
  return recipe;
}

Recipe Recipe::parse(const std::string& text, const std::string& place) {
  Json object;
  try {
    object = Json::parse(text);
  } catch (const std::exception&) {
    throw input_error(fmt::format("{}: is no JSON", place), "--recipe is xrv, imagenet or a JSON file");
  }
  if (!object.is_object()) throw input_error(fmt::format("{}: a recipe is a JSON object", place));
  refuse_unknown_fields(object, place);
  Fields fields(object, place);
  const double side = static_cast<double>(kLargestSide);
  const std::vector<double> size = fields.numbers("size", 2, 1, side);
  if (size.empty())
    throw input_error(fmt::format("{}: field \"size\" is missing", place),
                      "\"size\":[224,224], height first");
  Recipe recipe{
      .name = place, .height = fields.whole("size", size[0]), .width = fields.whole("size", size[1])};
  recipe.fit =
      fields.choice("fit", "resize", {"resize", "center-crop"}) == "resize" ? Fit::resize : Fit::center_crop;
  recipe.channels = fields.choice("channels", "rgb", {"grey", "rgb"}) == "grey" ? 1 : 3;
  recipe.channels_first = fields.choice("layout", "NCHW", {"NCHW", "NHWC"}) == "NCHW";
  recipe.interpolation = fields.choice("interpolation", "pillow", {"pillow", "skimage"}) == "pillow"
                             ? Interpolation::pillow
                             : Interpolation::skimage;
  if (object.contains("short_side")) {
    const Json list = {{"short_side", Json::array({object["short_side"]})}};
    recipe.short_side = fields.whole("short_side", Fields(list, place).numbers("short_side", 1, 1, side)[0]);
    if (recipe.fit != Fit::center_crop || recipe.short_side < std::max(recipe.height, recipe.width)) {
      throw fields.wrong("short_side", "needs \"fit\":\"center-crop\" and must not be smaller than the size");
    }
  }
  if (const auto range = fields.numbers("range", 2, -1e6, 1e6); !range.empty()) {
    recipe.low = range[0];
    recipe.high = range[1];
    if (recipe.low == recipe.high) throw fields.wrong("range", "black and white are the same");
  }
  recipe.mean = fields.numbers("mean", recipe.channels, -1e6, 1e6);
  recipe.deviation = fields.numbers("std", recipe.channels, 1e-6, 1e6);
  if (recipe.mean.empty()) recipe.mean.assign(recipe.channels, 0);
  if (recipe.deviation.empty()) recipe.deviation.assign(recipe.channels, 1);
  return recipe;
}

Recipe Recipe::of_shape(const std::vector<std::size_t>& shape, const std::string& model) {
  const auto is_channels = [](std::size_t d) { return d == 1 || d == 3; };
  if (shape.size() != 3 || (!is_channels(shape[0]) && !is_channels(shape[2]))) {
    throw input_error(fmt::format("{}: its input [{}] is no image", model, fmt::join(shape, ", ")),
                      "say with --recipe how an image becomes its input");
  }
  const bool first = is_channels(shape[0]);
  Recipe recipe{.name = "input of the model",
                .height = shape[first ? 1 : 0],
                .width = shape[first ? 2 : 1],
                .channels = shape[first ? 0 : 2],
                .channels_first = first};
  recipe.mean.assign(recipe.channels, 0);
  recipe.deviation.assign(recipe.channels, 1);
  return recipe;
}

std::string Recipe::to_json() const {
  Json object = {{"name", name},
                 {"size", {height, width}},
                 {"fit", fit == Fit::resize ? "resize" : "center-crop"},
                 {"interpolation", interpolation == Interpolation::pillow ? "pillow" : "skimage"},
                 {"channels", channels == 1 ? "grey" : "rgb"},
                 {"range", {low, high}},
                 {"mean", mean},
                 {"std", deviation},
                 {"layout", channels_first ? "NCHW" : "NHWC"}};
  if (short_side != 0) object["short_side"] = short_side;
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::size_t> Recipe::shape() const {
  if (channels_first) return {channels, height, width};
  return {height, width, channels};
}

Planes Recipe::fit_image(const Image& image) const {
  Planes planes = to_planes(channels == 1 && image.channels == 3 ? grey_of(image) : image);
  const double outside = std::clamp(-low / (high - low), 0.0, 1.0);  // what is 0 after the mapping
  const auto resized = [&](const Planes& p, std::size_t h, std::size_t w) {
    return resize(p, h, w, interpolation, image.max, outside);
  };
  if (fit == Fit::resize) {
    planes = resized(planes, height, width);
  } else if (short_side == 0) {
    const Window window = centred(planes.height, planes.width, *this);
    planes = resized(crop(planes, window.top, window.left, window.height, window.width), height, width);
  } else {
    const auto [h, w] = scaled(planes.height, planes.width, short_side);
    planes = crop(resized(planes, h, w), half_of(h - height), half_of(w - width), height, width);
  }
  return channels == 3 && planes.channels == 1 ? three_of(std::move(planes)) : planes;
}

Box Recipe::fit_box(const Box& box, std::size_t image_height, std::size_t image_width) const {
  Window window{0, 0, image_height, image_width};
  double down = static_cast<double>(height);
  double across = static_cast<double>(width);
  double top = 0;
  double left = 0;
  if (fit == Fit::center_crop && short_side == 0) {
    window = centred(image_height, image_width, *this);
  } else if (fit == Fit::center_crop) {
    const auto [h, w] = scaled(image_height, image_width, short_side);
    down = static_cast<double>(h);
    across = static_cast<double>(w);
    top = static_cast<double>(half_of(h - height));
    left = static_cast<double>(half_of(w - width));
  }
  down /= static_cast<double>(window.height);
  across /= static_cast<double>(window.width);
  return {.x = (box.x - static_cast<double>(window.left)) * across - left,
          .y = (box.y - static_cast<double>(window.top)) * down - top,
          .width = box.width * across,
          .height = box.height * down};
}

std::vector<float> Recipe::normalise(const Planes& fitted) const {
  std::vector<float> result(fitted.values.size());
  const auto black = static_cast<float>(low);
  const auto span = static_cast<float>(high - low);
  for (std::size_t c = 0; c < channels; ++c) {
    const auto m = static_cast<float>(mean[c]);
    const auto s = static_cast<float>(deviation[c]);
    for (std::size_t p = 0; p < pixels(); ++p) {
      const float value = (fitted.values[c * pixels() + p] * span + black - m) / s;
      result[channels_first ? c * pixels() + p : p * channels + c] = value;
    }
  }
  return result;
}

}  // namespace hifi
