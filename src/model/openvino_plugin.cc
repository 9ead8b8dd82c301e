// ONNX models through OpenVINO on the processor.
//
// Arithmetic is float32: on processors with bfloat16 OpenVINO would take that. A run uses one thread, so the
// bits do not depend on how many there are; parallel runs come from parallel callers.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <openvino/op/constant.hpp>
#include <openvino/openvino.hpp>
#include <optional>
#include <regex>
#include <thread>

#include "data/text_column.h"
#include "hifi/error.h"
#include "model/network.h"
#include "model/openvino_operators.h"

namespace hifi {

namespace {

ov::Core& library() {
  static ov::Core core = [] {
    ov::Core made;
    made.add_extension(onnx_ml_operators());
    return made;
  }();
  return core;
}

// The last line that does not speak of source files.
std::string last_line(const std::string& message) {
  std::string last;
  std::size_t begin = 0;
  while (begin < message.size()) {
    const std::size_t end = std::min(message.find('\n', begin), message.size());
    const std::string line = message.substr(begin, end - begin);
    if (line.find_first_not_of(" \t") != std::string::npos && line.find("src/") == std::string::npos)
      last = line;
    begin = end + 1;
  }
  return one_line(last.empty() ? message : last, 200);
}

// The part of an OpenVINO message that people can use: not its source files, not its stack of checks.
std::string reason(const std::string& message) {
  std::smatch match;
  static const std::regex unknown("No conversion rule found for operations: *([^\n]*)");
  if (std::regex_search(message, match, unknown))
    return "it has operators that cannot be run: " + match[1].str();
  static const std::regex failed("-- (\\S+) with a message:\n");
  if (std::regex_search(message, match, failed)) {
    const std::string rest = match.suffix().str();
    return fmt::format("operator {} cannot be run: {}", match[1].str(),
                       last_line(rest.substr(0, rest.find("\nSummary:"))));
  }
  return last_line(message);
}

std::string shape_text(const ov::PartialShape& shape) { return shape.to_string(); }

std::shared_ptr<ov::Model> read(const std::string& content, const std::string& path) {
  try {
    return library().read_model(content, ov::Tensor());
  } catch (const std::exception& error) {
    throw input_error(fmt::format("{}: cannot be used: {}", path, reason(error.what())));
  }
}

bool is_whole(const ov::element::Type& type) { return type.is_integral() || type == ov::element::boolean; }

// The shape of an input with `rows` rows; dimensions that the model leaves open come from `row`.
ov::PartialShape bound_shape(const ov::Output<ov::Node>& input, std::size_t rows, std::size_t inputs,
                             const NetworkOptions& options) {
  const ov::PartialShape shape = input.get_partial_shape();
  const std::string name = input.get_any_name();
  if (input.get_element_type() == ov::element::string) {
    throw input_error(fmt::format("{}: input \"{}\" takes text, which is not supported", options.path, name));
  }
  const auto unbound = [&](const char* why) {
    return input_error(
        fmt::format("{}: input \"{}\" has the shape {}: {}", options.path, name, shape_text(shape), why),
        "export it with a batch dimension first and all others fixed");
  };
  // A model that says nothing about the shape gets rows of what we have.
  if (shape.rank().is_dynamic() && (inputs > 1 || options.shape.empty())) throw unbound("it cannot be bound");
  if (shape.rank().is_static() && shape.size() == 0) throw unbound("it has no batch dimension");
  ov::PartialShape result{static_cast<std::int64_t>(rows)};
  const std::size_t beyond = shape.rank().is_static() ? shape.size() - 1 : options.shape.size();
  for (std::size_t d = 0; d < beyond; ++d) {
    const ov::Dimension& dimension = shape.rank().is_static() ? shape[d + 1] : ov::Dimension();
    if (dimension.is_static()) {
      result.push_back(dimension);
    } else if (inputs == 1 && beyond == options.shape.size()) {
      result.push_back(static_cast<std::int64_t>(options.shape[d]));
    } else {
      throw unbound("more than its batch is left open");
    }
  }
  return result;
}

void reshape(ov::Model& model, std::size_t rows, const NetworkOptions& options) {
  std::map<ov::Output<ov::Node>, ov::PartialShape> shapes;
  for (const auto& input : model.inputs())
    shapes[input] = bound_shape(input, rows, model.inputs().size(), options);
  model.reshape(shapes);
}

std::optional<std::size_t> rows_of(const ov::PartialShape& shape) {
  if (shape.is_dynamic() || shape.size() == 0) return std::nullopt;
  return static_cast<std::size_t>(shape[0].get_length());
}

// A model exported for one batch size may refuse others: then it gets that one.
std::size_t bind_rows(std::shared_ptr<ov::Model>& model, std::size_t rows, const NetworkOptions& options) {
  const auto& first = model->inputs().front().get_partial_shape();
  const std::size_t declared = first.rank().is_static() && first.size() > 0 && first[0].is_static()
                                   ? static_cast<std::size_t>(first[0].get_length())
                                   : 0;
  std::string why;
  for (const std::size_t wanted : {rows, declared}) {
    if (wanted == 0) continue;
    const auto copy = model->clone();
    try {
      reshape(*copy, wanted, options);
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      why = reason(error.what());
      continue;
    }
    const ov::PartialShape& shape = copy->output(0).get_partial_shape();
    why = fmt::format("its output has the shape {} for {} rows", shape_text(shape), wanted);
    if (rows_of(shape) != wanted) continue;
    model = copy;
    return wanted;
  }
  std::string shapes;
  for (const auto& input : model->inputs()) {
    const ov::PartialShape shape = bound_shape(input, rows, model->inputs().size(), options);
    shapes += (shapes.empty() ? "" : ", ") + input.get_any_name() + " " + shape_text(shape);
  }
  throw input_error(fmt::format("{}: does not take the input {}: {}", options.path, shapes, why),
                    "export it with a batch dimension that is left open");
}

std::uint64_t activation_bytes(const ov::Model& model) {
  std::uint64_t bytes = 0;
  for (const auto& node : model.get_ops()) {
    if (ov::is_type<ov::op::v0::Constant>(node)) continue;
    for (const auto& output : node->outputs()) {
      if (output.get_partial_shape().is_static())
        bytes += ov::shape_size(output.get_shape()) * output.get_element_type().size();
    }
  }
  return bytes;
}

class OpenVinoSession : public NetworkSession {
 public:
  OpenVinoSession(ov::InferRequest request, std::string path)
      : request_(std::move(request)), path_(std::move(path)), output_(request_.get_output_tensor()) {}

  void* input(std::size_t port) override { return request_.get_input_tensor(port).data(); }

  void run(std::size_t count, std::span<double> out) override {
    try {
      request_.infer();
    } catch (const std::exception& error) {
      throw model_error(fmt::format("{}: OpenVINO failed: {}", path_, reason(error.what())));
    }
    const std::size_t numbers = count * (output_.get_size() / output_.get_shape()[0]);
    std::copy_n(output_.data<const float>(), numbers, out.begin());
  }

 private:
  ov::InferRequest request_;
  std::string path_;
  ov::Tensor output_;
};

class OpenVinoNetwork : public Network {
 public:
  OpenVinoNetwork(const std::string& content, const NetworkOptions& options) : path_(options.path) {
    auto model = read(content, path_);
    if (model->inputs().empty()) throw input_error(fmt::format("{}: has no input", path_));
    info_.rows = bind_rows(model, options.rows != 0 ? options.rows : suitable_rows(model, options), options);
    info_.bytes = activation_bytes(*model);
    check_session_memory(info_.bytes, info_.rows, options);
    model = with_plain_types(model);
    describe(*model);
    compile(model);
  }

  const NetworkInfo& info() const override { return info_; }
  std::unique_ptr<NetworkSession> session() const override {
    return std::make_unique<OpenVinoSession>(compiled_.create_infer_request(), path_);
  }

 private:
  // As many rows as keep the numbers between the layers in the cache, from the shapes of the model alone.
  std::size_t suitable_rows(const std::shared_ptr<ov::Model>& model, const NetworkOptions& options) const {
    constexpr std::uint64_t kCache = std::uint64_t{1} << 20;
    constexpr std::uint64_t kMost = 512;
    auto one = model->clone();
    bind_rows(one, 1, options);
    return std::bit_floor(
        std::clamp<std::uint64_t>(kCache / std::max<std::uint64_t>(1, activation_bytes(*one)), 1, kMost));
  }

  static std::shared_ptr<ov::Model> with_plain_types(const std::shared_ptr<ov::Model>& model);
  void describe(const ov::Model& model);
  void compile(const std::shared_ptr<ov::Model>& model);

  std::string path_;
  NetworkInfo info_;
  mutable ov::CompiledModel compiled_;  // making a request is no const operation, but safe from any thread
};

// Real inputs become f32, whole numbers and booleans i64, the output f32.
std::shared_ptr<ov::Model> OpenVinoNetwork::with_plain_types(const std::shared_ptr<ov::Model>& model) {
  ov::preprocess::PrePostProcessor types(model);
  for (std::size_t k = 0; k < model->inputs().size(); ++k) {
    types.input(k).tensor().set_element_type(is_whole(model->input(k).get_element_type()) ? ov::element::i64
                                                                                          : ov::element::f32);
  }
  types.output(0).tensor().set_element_type(ov::element::f32);
  return types.build();
}

void OpenVinoNetwork::describe(const ov::Model& model) {
  const auto port = [](const ov::Output<const ov::Node>& end) {
    const ov::Shape shape = end.get_shape();
    return Port{.name = end.get_any_name(),
                .element = end.get_element_type() == ov::element::i64 ? Element::i64 : Element::f32,
                .shape = {shape.begin() + 1, shape.end()}};
  };
  for (const auto& input : model.inputs()) info_.inputs.push_back(port(input));
  info_.output = port(model.output(0));
  info_.library = fmt::format("OpenVINO {}", ov::get_openvino_version().buildNumber);
}

void OpenVinoNetwork::compile(const std::shared_ptr<ov::Model>& model) {
  const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  try {
    compiled_ = library().compile_model(model, "CPU", ov::hint::inference_precision(ov::element::f32),
                                        ov::hint::execution_mode(ov::hint::ExecutionMode::ACCURACY),
                                        ov::num_streams(cores), ov::inference_num_threads(cores),
                                        ov::hint::enable_cpu_pinning(false));
  } catch (const std::exception& error) {
    throw input_error(fmt::format("{}: OpenVINO cannot run it: {}", path_, reason(error.what())));
  }
  info_.precision = compiled_.get_property(ov::hint::inference_precision).get_type_name();
}

}  // namespace
}  // namespace hifi

extern "C" {
void hifi_open_network(const std::string& content, const hifi::NetworkOptions& options,
                       std::unique_ptr<hifi::Network>& network);
void hifi_open_network(const std::string& content, const hifi::NetworkOptions& options,
                       std::unique_ptr<hifi::Network>& network) {
  try {
    network = std::make_unique<hifi::OpenVinoNetwork>(content, options);
  } catch (const hifi::Error&) {
    throw;
  } catch (const std::exception& error) {
    throw hifi::input_error(options.path + ": cannot be used: " + hifi::reason(error.what()));
  }
}
}
