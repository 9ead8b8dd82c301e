#include "core/gemm.h"

#include "core/plugin.h"

namespace hifi {

void multiply(const Product& product) {
  using Function = void (*)(const Product&);
  static const auto function =
      reinterpret_cast<Function>(plugin_symbol("blas", "hifi_multiply", "libopenblas0-openmp"));
  if (product.rows > 0) function(product);
}

}  // namespace hifi
