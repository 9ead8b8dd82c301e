#include "model/network.h"

#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <numeric>

#include "core/plugin.h"
#include "hifi/error.h"
#include "model/onnx_subgraph.h"

namespace hifi {

namespace {

using Open = void (*)(const std::string& content, const NetworkOptions& options,
                      std::unique_ptr<Network>& network);

std::unique_ptr<Network> open(const char* plugin, const char* package, const std::string& content,
                              const NetworkOptions& options) {
  std::unique_ptr<Network> network;
  reinterpret_cast<Open>(plugin_symbol(plugin, "hifi_open_network", package))(content, options, network);
  return network;
}

}  // namespace

std::size_t element_bytes(Element element) { return element == Element::f32 ? 4 : 8; }

std::size_t Port::size() const {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

void check_session_memory(std::uint64_t bytes, std::size_t rows, const NetworkOptions& options) {
  if (options.max_memory == 0 || bytes <= options.max_memory) return;
  throw input_error(fmt::format("{}: a batch of {} rows needs {:.3g} GB, more than --max-memory",
                                options.path, rows, static_cast<double>(bytes) / 1e9),
                    "use a smaller --batch");
}

OpenedNetwork open_onnx_network(const std::string& content, const NetworkOptions& options) {
  const onnx::Document document = onnx::parse_document(content, options.path);
  const onnx::ChosenOutput output = onnx::choose_output(document.graph, options.output, options.path);
  return {.network = open("backend_onnx", "the Python package openvino",
                          onnx::cut_to(content, document, output.tensor, options.path), options),
          .probabilities = output.probabilities,
          .labels = output.labels,
          .made_by = output.made_by,
          .linear = output.linear};
}

OpenedNetwork open_torch_network(const std::string& content, const NetworkOptions& options) {
  // Threads of GNU OpenMP that spin while they wait take the cores from ours. Read when it is loaded.
  setenv("OMP_WAIT_POLICY", "passive", 0);
  return {.network = open("backend_torch", "the Debian packages libtorch1.13 and libopenblas0-openmp",
                          content, options)};
}

}  // namespace hifi
