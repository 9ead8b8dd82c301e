#include "baselines/gradients.h"

#include <cstdlib>

#include "core/plugin.h"

namespace hifi {

std::unique_ptr<GradientModel> open_gradient_model(const std::string& content, const std::string& path,
                                                   const std::vector<std::size_t>& shape) {
  using Open = void (*)(const std::string&, const std::string&, const std::vector<std::size_t>&,
                        std::unique_ptr<GradientModel>&);
  // Threads of GNU OpenMP that spin while they wait take the cores from ours. Read when it is loaded.
  setenv("OMP_WAIT_POLICY", "passive", 0);
  void* symbol = plugin_symbol("baselines", "hifi_open_gradient_model",
                               "the Debian packages libtorch1.13 and libopenblas0-openmp");
  std::unique_ptr<GradientModel> model;
  reinterpret_cast<Open>(symbol)(content, path, shape, model);
  return model;
}

}  // namespace hifi
