#include "fuzz.h"
#include "model/onnx_document.h"
#include "model/onnx_tree_model.h"
#include "try_model.h"

namespace hifi::fuzz {

void try_input(const std::string& bytes) {
  onnx::looks_like_onnx(bytes);
  const onnx::Document document = onnx::parse_document(bytes, "model");
  if (!onnx::has_trees(document.graph)) return;
  const auto model = load_onnx_trees("model", bytes, document, {}, 4);
  try_model(*model);
}

std::vector<std::string> own_seeds() { return {}; }

}  // namespace hifi::fuzz
