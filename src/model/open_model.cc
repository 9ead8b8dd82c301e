#include <fmt/format.h>

#include "core/files.h"
#include "hifi/error.h"
#include "model/lightgbm_model.h"
#include "model/model.h"
#include "model/network_model.h"
#include "model/onnx_document.h"
#include "model/onnx_tree_model.h"
#include "model/process_model.h"
#include "model/served_model.h"
#include "model/served_url.h"
#include "model/xgboost_model.h"

namespace hifi {

namespace {

void refuse_output(const std::string& spec, const ModelOptions& options) {
  if (options.output.empty()) return;
  throw input_error(fmt::format("--output {}: {} has one output", options.output, spec),
                    "only ONNX, TorchScript and served models have several; leave it out");
}

}  // namespace

std::unique_ptr<Model> open_model(const std::string& spec, const std::vector<Column>& process_columns,
                                  const ModelOptions& options) {
  constexpr std::string_view kProcess = "process:";
  if (spec.starts_with(kProcess)) {
    refuse_output(spec, options);
    return open_process(spec.substr(kProcess.size()), process_columns);
  }
  if (looks_served(spec)) return open_served(spec, process_columns, options);
  const std::string content = read_file(spec);
  if (looks_like_xgboost(content)) {
    refuse_output(spec, options);
    return load_xgboost(spec, content);
  }
  if (looks_like_lightgbm(content)) {
    refuse_output(spec, options);
    return load_lightgbm(spec, content);
  }
  if (onnx::looks_like_onnx(content)) {
    const onnx::Document document = onnx::parse_document(content, spec);
    if (onnx::has_trees(document.graph)) {
      return load_onnx_trees(spec, content, document, options, process_columns.size());
    }
    return open_onnx(spec, content, process_columns.size(), options);
  }
  if (looks_like_torchscript(content, spec))
    return open_torchscript(spec, content, process_columns.size(), options);
  throw input_error(fmt::format("{}: not a model of a known format", spec),
                    "known are XGBoost JSON and UBJ, LightGBM text, ONNX, TorchScript, process:CMD and "
                    "http://host/v2/models/NAME");
}

}  // namespace hifi
