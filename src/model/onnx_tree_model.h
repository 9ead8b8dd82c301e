// ONNX models whose graph holds tree ensembles of ai.onnx.ml, as skl2onnx and onnxmltools write them.
//
// The judge is onnxruntime: single precision, trees added in the order of the file
// (tests/test_onnx_trees.py).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "model/model.h"
#include "model/onnx_document.h"

namespace hifi {

// `content` is the whole file and `document` what it says; `columns`: of the table, for an input whose width
// the file leaves open. REQUIRES: onnx::has_trees(document.graph). Throws Error(input).
std::unique_ptr<Model> load_onnx_trees(const std::string& path, std::string_view content,
                                       const onnx::Document& document, const ModelOptions& options,
                                       std::size_t columns);

}  // namespace hifi
