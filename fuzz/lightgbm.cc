#include "fuzz.h"
#include "model/lightgbm_model.h"
#include "try_model.h"

namespace hifi::fuzz {

void try_input(const std::string& bytes) {
  looks_like_lightgbm(bytes);
  try_model(*load_lightgbm("model", bytes));
}

std::vector<std::string> own_seeds() { return {}; }

}  // namespace hifi::fuzz
