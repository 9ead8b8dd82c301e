#include <fmt/format.h>

#include "core/hash.h"
#include "hifi/error.h"
#include "model/network_model.h"

namespace hifi {

namespace {

using OpenFile = OpenedNetwork (*)(const std::string& content, const NetworkOptions& options);

std::unique_ptr<Model> open_file(OpenFile open, const std::string& format, const std::string& path,
                                 const std::string& content, std::size_t columns,
                                 const ModelOptions& options) {
  NetworkOptions wanted{.path = path,
                        .output = options.output,
                        .rows = options.batch.value_or(0),
                        .shape = {columns},
                        .max_memory = options.max_memory};
  OpenedNetwork opened;
  try {
    opened = open(content, wanted);
  } catch (const Error& error) {
    // A network that does not say how wide it is may want the columns that the user names.
    if (error.code() != ErrorCode::input || options.features == 0 || options.features == columns) throw;
    wanted.shape = {options.features};
    try {
      opened = open(content, wanted);
    } catch (const Error&) {
      throw error;
    }
  }
  ModelInfo info{.path = path, .format = format, .hash = hex_hash(content), .bytes = content.size()};
  if (opened.network->info().output.size() == opened.labels.size()) info.labels = std::move(opened.labels);
  if (opened.probabilities) info.task = Task::classification;
  return make_network_model(std::move(opened.network), std::move(info));
}

}  // namespace

std::unique_ptr<Model> open_onnx(const std::string& path, const std::string& content, std::size_t columns,
                                 const ModelOptions& options) {
  return open_file(open_onnx_network, "onnx", path, content, columns, options);
}

std::unique_ptr<Model> open_torchscript(const std::string& path, const std::string& content,
                                        std::size_t columns, const ModelOptions& options) {
  return open_file(open_torch_network, "torchscript", path, content, columns, options);
}

bool looks_like_torchscript(std::string_view content, const std::string& path) {
  if (!content.starts_with("PK\x03\x04")) return false;
  const auto has = [&](std::string_view name) { return content.find(name) != std::string_view::npos; };
  if (has("/constants.pkl") || has("/code/")) return true;
  if (!has("/data.pkl")) return false;
  throw input_error(fmt::format("{}: is a PyTorch checkpoint, weights without the code that runs them", path),
                    "save the model with torch.jit.script(model).save(\"model.pt\")");
}

}  // namespace hifi
