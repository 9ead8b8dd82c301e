// The `ai.onnx.ml` operators that OpenVINO lacks, made of those that it has. For the OpenVINO plug-in alone.
#pragma once

#include <memory>
#include <openvino/core/extension.hpp>
#include <vector>

namespace hifi {

std::vector<std::shared_ptr<ov::Extension>> onnx_ml_operators();

}  // namespace hifi
