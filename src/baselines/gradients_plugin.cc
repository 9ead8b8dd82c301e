// Gradients by libtorch's autograd. GradCAM needs a tensor inside of the network: TorchScript has no hooks in
// C++, so a copy of the graph of `forward` gives the activation as a second output, and the gradient is taken
// between the two.
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/script.h>

#include <algorithm>
#include <sstream>

#include "baselines/gradients.h"
#include "hifi/error.h"

namespace hifi {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

std::string first_line(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  const std::string text = torch_error != nullptr ? torch_error->msg() : error.what();
  return text.substr(0, text.find('\n'));
}

bool is_convolution(const Node& node) {
  const std::string kind = node.kind().toQualString();
  return kind == "aten::_convolution" || kind == "aten::convolution" || kind == "aten::conv2d";
}

bool is_normalisation(const Node& node) {
  return node.kind() == c10::Symbol::fromQualString("aten::batch_norm");
}

bool is_activation(const Node& node) {
  const std::string kind = node.kind().toQualString();
  return kind == "aten::relu" || kind == "aten::relu_";
}

// "features.4.0" of a parameter self.features.4.0.weight; empty if it is no parameter of the module.
std::string layer_of(const Value* weight) {
  std::string name;
  const Node* node = weight->node();
  if (node->kind() != torch::jit::prim::GetAttr) return name;
  for (node = node->inputs()[0]->node(); node->kind() == torch::jit::prim::GetAttr;
       node = node->inputs()[0]->node())
    name = node->s(torch::jit::attr::name) + (name.empty() ? "" : ".") + name;
  return name;
}

struct Layer {
  std::string name;
  Node* node;
};

std::vector<Layer> find_layers(Graph& graph) {
  std::vector<Layer> layers;
  for (Node* node : graph.nodes()) {
    if (!is_convolution(*node) && !is_normalisation(*node)) continue;
    const std::string name = layer_of(node->inputs()[1]);
    if (!name.empty()) layers.push_back({name, node});
  }
  return layers;
}

Value* activation_of(Node* node) {
  Value* value = node->output();
  while (value->uses().size() == 1) {
    Node* next = value->uses()[0].user;
    if (!is_normalisation(*next) && !is_activation(*next)) break;
    value = next->output();
  }
  return value;
}

class TorchGradients : public GradientModel {
 public:
  TorchGradients(const std::string& content, const std::string& path, const std::vector<std::size_t>& shape)
      : path_(path) {
    for (const std::size_t side : shape) shape_.push_back(static_cast<std::int64_t>(side));
    std::istringstream stream(content);
    module_ = torch::jit::load(stream, torch::kCPU);
    module_.eval();
    graph_ = module_.get_method("forward").graph()->copy();
    torch::jit::Inline(*graph_);
    const at::Tensor zeros = torch::zeros(batch_shape(1));
    const torch::jit::IValue answer = module_.forward({zeros});
    if (!answer.isTensor() || answer.toTensor().dim() != 2)
      throw input_error(fmt::format("{}: does not answer with one row of numbers per image", path));
    outputs_ = static_cast<std::size_t>(answer.toTensor().size(1));
  }

  void gradients(std::span<const float> inputs, std::size_t count, std::size_t output,
                 std::span<float> out) override {
    check_output(output);
    const at::AutoGradMode with_gradients(true);
    at::Tensor input = tensor(inputs, count).requires_grad_(true);
    const at::Tensor answer = module_.forward({input}).toTensor();
    const at::Tensor total = answer.select(1, static_cast<std::int64_t>(output)).sum();
    const at::Tensor gradient = torch::autograd::grad({total}, {input})[0].contiguous();
    std::copy_n(gradient.data_ptr<float>(), out.size(), out.begin());
  }

  std::vector<std::string> layers() const override {
    std::vector<std::string> names;
    for (const Layer& layer : find_layers(*graph_)) names.push_back(layer.name);
    return names;
  }

  SaliencyMap grad_cam(std::span<const float> input, std::size_t output, const std::string& layer) override {
    check_output(output);
    const at::AutoGradMode with_gradients(true);
    const std::shared_ptr<Graph> graph = graph_->copy();
    graph->registerOutput(activation_of(find_layer(*graph, layer)));
    const torch::jit::Code code(graph, "grad_cam");
    // Parameters may be constants: the gradient then starts at the input.
    torch::jit::Stack stack{module_._ivalue(), tensor(input, 1).requires_grad_(true)};
    // Not by an executor: those join operations, and autograd would not see the tensor between them.
    torch::jit::InterpreterState(code).run(stack);
    const at::Tensor activation = stack.at(1).toTensor();
    if (activation.dim() != 4)
      throw input_error(fmt::format("{}: the activation of layer {} is no map", path_, layer),
                        "choose a convolution with --layer");
    const at::Tensor answer = stack.at(0).toTensor()[0][static_cast<std::int64_t>(output)];
    const at::Tensor weight = torch::autograd::grad({answer}, {activation})[0].mean({2, 3}, true);
    const at::Tensor map = (weight * activation).sum(1).relu()[0].to(torch::kFloat64).contiguous();
    SaliencyMap result{static_cast<std::size_t>(map.size(0)), static_cast<std::size_t>(map.size(1)), {}};
    result.values.assign(map.data_ptr<double>(), map.data_ptr<double>() + map.numel());
    return result;
  }

 private:
  std::vector<std::int64_t> batch_shape(std::size_t count) const {
    std::vector<std::int64_t> shape{static_cast<std::int64_t>(count)};
    shape.insert(shape.end(), shape_.begin(), shape_.end());
    return shape;
  }

  at::Tensor tensor(std::span<const float> values, std::size_t count) const {
    at::Tensor result = torch::empty(batch_shape(count));
    if (static_cast<std::size_t>(result.numel()) != values.size())
      throw Error(ErrorCode::bug, "gradients: the input has another shape than the model was opened for");
    std::copy(values.begin(), values.end(), result.data_ptr<float>());
    return result;
  }

  void check_output(std::size_t output) const {
    if (output >= outputs_)
      throw input_error(fmt::format("{}: has no class {}", path_, output),
                        fmt::format("it has {} outputs, counted from 0", outputs_));
  }

  Node* find_layer(Graph& graph, const std::string& name) const {
    Node* found = nullptr;
    for (const Layer& layer : find_layers(graph))
      if (name.empty() ? is_convolution(*layer.node) : layer.name == name) found = layer.node;
    if (found != nullptr) return found;
    if (name.empty()) throw input_error(fmt::format("{}: has no convolution for GradCAM", path_));
    const auto names = layers();
    throw input_error(fmt::format("{}: has no layer {}", path_, name),
                      names.empty() ? "it has no convolution"
                                    : fmt::format("layers are {} to {}", names.front(), names.back()));
  }

  std::string path_;
  std::vector<std::int64_t> shape_;
  std::size_t outputs_ = 0;
  torch::jit::Module module_;
  std::shared_ptr<Graph> graph_;
};

}  // namespace
}  // namespace hifi

extern "C" {
void hifi_open_gradient_model(const std::string& content, const std::string& path,
                              const std::vector<std::size_t>& shape,
                              std::unique_ptr<hifi::GradientModel>& model);
void hifi_open_gradient_model(const std::string& content, const std::string& path,
                              const std::vector<std::size_t>& shape,
                              std::unique_ptr<hifi::GradientModel>& model) {
  try {
    at::set_num_threads(1);
    torch::jit::getProfilingMode() = false;
    torch::jit::getExecutorMode() = false;
    model = std::make_unique<hifi::TorchGradients>(content, path, shape);
  } catch (const hifi::Error&) {
    throw;
  } catch (const std::exception& error) {
    throw hifi::input_error(path + ": cannot be used for gradients: " + hifi::first_line(error),
                            "gradients need a TorchScript file, as torch.jit.trace(model, x).save writes it");
  }
}
}
