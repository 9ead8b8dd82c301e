// What of an ONNX file one of its outputs needs.
//
// A backend that reads neither maps nor texts can still run a classifier whose other output is a label.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/onnx_document.h"

namespace hifi::onnx {

struct ChosenOutput {
  std::string tensor;               // the value to compute; not the map that a ZipMap makes of it
  bool probabilities = false;       // one per class, as far as the file says
  std::vector<std::string> labels;  // of the classes, empty if the file has none
  std::string made_by;              // the operator that gives the values, reshaping and copying left out
  bool linear = false;              // they are weighted sums and a bias, which no range bounds
};

// `wanted` is a name or an index from 0. Without it: the only output, or the one with probabilities, or the
// only one that is no label. Throws Error(input) that lists the outputs.
ChosenOutput choose_output(const Graph& graph, const std::string& wanted, const std::string& path);

// The file with this value as its only output, and nothing left that it does not need.
// REQUIRES: `document` was parsed from `content`.
std::string cut_to(std::string_view content, const Document& document, const std::string& tensor,
                   const std::string& path);

}  // namespace hifi::onnx
