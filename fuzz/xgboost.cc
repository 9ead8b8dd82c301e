#include "fuzz.h"
#include "model/xgboost_model.h"
#include "try_model.h"

namespace hifi::fuzz {

void try_input(const std::string& bytes) {
  looks_like_xgboost(bytes);
  try_model(*load_xgboost("model", bytes));
}

std::vector<std::string> own_seeds() { return {}; }

}  // namespace hifi::fuzz
