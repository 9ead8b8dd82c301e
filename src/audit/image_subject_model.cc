#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "audit/image_subject_parts.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/random.h"
#include "hifi/error.h"
#include "sampling/speed.h"

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

std::vector<Coalition> probe_coalitions(std::size_t players, std::size_t rows) {
  std::vector<Coalition> list{Coalition::full(players), Coalition(players)};
  RandomStream random(0, Purpose::probe);
  while (list.size() < rows) {
    Coalition c(players);
    for (std::size_t i = 0; i < players; ++i) {
      if (random.uniform() < .5) c.insert(i);
    }
    list.push_back(c);
  }
  return list;
}

// Calls per second on all threads. A run that is given a time is worth a longer look.
double time_calls(ImageNetwork& network, const ImageInput& input, const std::vector<ImageCall>& calls,
                  const std::string& time, Workers& workers) {
  constexpr double kProbe = .05;  // of the time
  const double seconds = time.empty() ? 0 : std::min(1.0, kProbe * parse_time(time));
  std::vector<ImageCall> all;
  for (std::size_t t = 0; t < workers.threads(); ++t) all.insert(all.end(), calls.begin(), calls.end());
  std::vector<double> answers(all.size() * network.outputs());
  if (workers.threads() > 1)
    network.answers(input, all, answers, workers);  // opens a session for each thread
  double done = 0;
  double took = 0;
  const auto start = std::chrono::steady_clock::now();
  do {
    network.answers(input, all, answers, workers);
    done += static_cast<double>(all.size());
    took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  } while (took < seconds);
  return done / std::max(took, 1e-9);
}

// Are the outputs probabilities? The word of the user, that of the file, or what the first answers look like.
void read_outputs(ImageSubject& s, std::span<const double> answers) {
  const auto is_share = [](double x) { return x >= -1e-6 && x <= 1 + 1e-6; };
  const bool shares = std::all_of(answers.begin(), answers.end(), is_share);
  const bool declared = s.model.probabilities || s.model.made_by == "Softmax" || s.model.made_by == "Sigmoid";
  s.reading.probabilities = s.reading.link == Link::none && (declared || (shares && !s.model.linear));
  if (s.reading.link != Link::none) {
    s.outputs = fmt::format("{} of them, as --link says", s.request.link);
  } else if (declared) {
    s.outputs = s.model.made_by.empty() ? "probabilities, as the file says"
                                        : fmt::format("probabilities, made by {}", s.model.made_by);
  } else if (s.reading.probabilities) {
    s.outputs = "taken as probabilities: they lie in 0..1";
    s.warnings.push_back(
        {"outputs_assumed",
         "the model does not say that its outputs are probabilities; they are taken as such because the "
         "first answers lie in 0..1. If they are logits, say --link sigmoid or softmax"});
  } else {
    s.outputs = s.model.linear ? fmt::format("as they are: {}, a linear layer, makes them", s.model.made_by)
                               : "as they are: they are no probabilities";
    if (s.model.linear && s.reading.needs_probabilities()) {
      throw input_error(fmt::format("{}: {}, a linear layer, makes its outputs: they are no probabilities",
                                    s.request.model, s.model.made_by),
                        "say with --link softmax or --link sigmoid how outputs become probabilities");
    }
  }
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

// Pictures of the first image: as it is, as pure fill, and as many others as fill a batch, since a batch
// costs the same with them.
void try_model(ImageSubject& s, Workers& workers) {
  ImageNetwork network(*s.model.network, s.recipe.channels_first);
  const ImageInput input = s.input(0);
  const std::vector<PatchSet> own = s.segments(0);
  const PatchMask& mask = *(own.empty() ? s.grids : own)[0].mask;
  const std::vector<Coalition> shown = probe_coalitions(mask.players(), s.model.network->info().rows);
  std::vector<ImageCall> calls;
  for (const Coalition& c : shown) calls.push_back({&mask, &c, 0});
  std::vector<double> first(calls.size() * network.outputs()), second(first.size());
  network.answers(input, calls, first, workers);
  network.answers(input, calls, second, workers);
  if (first != second) {
    throw model_error(fmt::format("{}: is not deterministic: {} twice, {:.9g} and {:.9g}", s.request.model,
                                  s.list.images[0].name, first[0], second[0]));
  }
  read_outputs(s, first);
  try {
    s.reading(
        std::span(first).first(network.outputs()));  // no probability where one is needed: now, not later
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", s.request.model, error.what()), error.hint());
  }
  s.calls_per_second = time_calls(network, input, calls, s.request.time, workers);
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
          .labels = std::move(opened.labels),
          .made_by = std::move(opened.made_by),
          .linear = opened.linear};
}

}  // namespace hifi
