#include <fmt/format.h>

#include "core/files.h"
#include "hifi/error.h"
#include "model/model.h"
#include "model/process_model.h"
#include "model/xgboost_model.h"

namespace hifi {

namespace {

void refuse_output(const std::string& spec, const ModelOptions& options) {
  if (options.output.empty()) return;
  throw input_error(fmt::format("--output {}: {} has one output", options.output, spec),
                    "only ONNX and served models have several; leave it out");
}

}  // namespace

std::unique_ptr<Model> open_model(const std::string& spec, const std::vector<Column>& process_columns,
                                  const ModelOptions& options) {
  constexpr std::string_view kProcess = "process:";
  if (spec.starts_with(kProcess)) {
    refuse_output(spec, options);
    return open_process(spec.substr(kProcess.size()), process_columns);
  }
  const std::string content = read_file(spec);
  if (looks_like_xgboost(content)) {
    refuse_output(spec, options);
    return load_xgboost(spec, content);
  }
  throw input_error(fmt::format("{}: not a model of a known format", spec),
                    "known are XGBoost JSON and UBJ (booster.save_model(\"model.json\")) and process:CMD");
}

}  // namespace hifi
