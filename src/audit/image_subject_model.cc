#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "audit/image_subject_parts.h"
#include "core/files.h"
#include "core/hash.h"
#include "hifi/error.h"

namespace hifi {

namespace {

constexpr std::size_t kTorchRows = 16;  // TorchScript says nothing about its layers

std::size_t class_count(const ImageSubject& s) {
  const std::size_t outputs = s.model.network->info().output.size();
  return outputs == 1 ? 2 : outputs;
}

std::size_t class_number(const ImageSubject& s, const std::string& text, const std::string& place) {
  const auto named = std::find(s.classes.begin(), s.classes.end(), text);
  if (named != s.classes.end()) return static_cast<std::size_t>(named - s.classes.begin());
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number < class_count(s)) return number;
  const std::string known = s.classes.empty() ? "name the classes of the model in their order with --classes"
                                              : fmt::format("--classes names {}", fmt::join(s.classes, ", "));
  throw input_error(fmt::format("{}: the model has no class \"{}\", its classes are 0 to {}", place, text,
                                class_count(s) - 1),
                    known);
}

}  // namespace

void read_classes(ImageSubject& s) {
  s.classes = s.request.classes;
  if (s.classes.empty() && s.model.labels.size() == class_count(s)) s.classes = s.model.labels;
  if (!s.classes.empty() && s.classes.size() != class_count(s)) {
    throw input_error(
        fmt::format("--classes has {} names, the model {} classes", s.classes.size(), class_count(s)));
  }
  std::optional<std::size_t> asked;
  if (!s.request.class_name.empty()) asked = class_number(s, s.request.class_name, "--class");
  const bool value_game =
      s.reading.measure == ClassMeasure::probability || s.reading.measure == ClassMeasure::logit;
  if (asked && !value_game && !s.request.labels.empty()) {
    throw Error(ErrorCode::usage, "--class: with --labels the loss is that of each image's own class",
                "leave it out, or take --loss prediction or logit");
  }
  for (const ListedImage& image : s.list.images) {
    s.truth.push_back(asked);
    if (!asked && !image.label.empty()) s.truth.back() = class_number(s, image.label, image.place);
  }
  if (!asked && s.request.labels.empty())
    s.notes.emplace_back(
        "no --labels and no --class: each image is explained for the class that the model names");
}

void check_input(const ImageSubject& s) {
  const NetworkInfo& info = s.model.network->info();
  if (info.inputs.size() != 1 || info.inputs[0].element == Element::i64) {
    throw input_error(
        fmt::format("{}: has {} inputs, must have one of real numbers", s.request.model, info.inputs.size()));
  }
  if (info.inputs[0].shape == s.recipe.shape()) return;
  throw input_error(
      fmt::format("{}: takes inputs of [{}], the recipe {} gives [{}]", s.request.model,
                  fmt::join(info.inputs[0].shape, ", "), s.recipe.name, fmt::join(s.recipe.shape(), ", ")),
      "check size, channels and layout of the recipe");
}

// The first image as it is and as pure fill, twice: is the model deterministic, how long does it take, are
// its outputs probabilities?
void try_model(ImageSubject& s, Workers& workers) {
  ImageNetwork network(*s.model.network, s.recipe.channels_first);
  const ImageInput input = s.input(0);
  const std::vector<PatchSet> own = s.segments(0);
  const PatchMask& mask = *(own.empty() ? s.grids : own)[0].mask;
  const Coalition none(mask.players());
  const Coalition all = Coalition::full(mask.players());
  const std::vector<ImageCall> calls{{&mask, &none, 0}, {&mask, &all, 0}};
  std::vector<double> first(calls.size() * network.outputs()), second(first.size());
  network.answers(input, calls, first, workers);
  const auto start = std::chrono::steady_clock::now();
  network.answers(input, calls, second, workers);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const std::size_t rows = s.model.network->info().rows;  // a batch costs what a full one costs
  s.seconds_per_call = took.count() / static_cast<double>((calls.size() + rows - 1) / rows * rows);
  if (first != second) {
    throw model_error(fmt::format("{}: is not deterministic: {} twice, {:.9g} and {:.9g}", s.request.model,
                                  s.list.images[0].name, first[0], second[0]));
  }
  const auto is_share = [](double x) { return x >= -1e-6 && x <= 1 + 1e-6; };
  s.reading.probabilities = s.reading.link == Link::none &&
                            (s.model.probabilities || std::all_of(first.begin(), first.end(), is_share));
  s.reading(std::span(first).first(network.outputs()));  // no probability where one is needed: now, not later
}

ImageModel open_image_model(const ImageRequest& request, const std::optional<Recipe>& recipe) {
  const std::string content = read_file(request.model);
  NetworkOptions options{.path = request.model, .output = request.output, .rows = request.batch};
  if (recipe) options.shape = recipe->shape();
  const bool torch = content.starts_with("PK\x03\x04");
  if (torch && !recipe) {
    throw input_error(fmt::format("{}: TorchScript does not say the size of its input", request.model),
                      "say it with --recipe");
  }
  if (torch && options.rows == 0) options.rows = kTorchRows;
  OpenedNetwork opened = torch ? open_torch_network(content, options) : open_onnx_network(content, options);
  return {.network = std::move(opened.network),
          .format = torch ? "torchscript" : "onnx",
          .hash = hex_hash(content),
          .probabilities = opened.probabilities,
          .labels = std::move(opened.labels)};
}

}  // namespace hifi
