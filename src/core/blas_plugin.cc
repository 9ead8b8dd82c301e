// The plug-in `blas`: OpenBLAS, one thread per call.
#include <cblas.h>
#include <omp.h>

#include "core/gemm.h"

// The number of threads is a property of the calling thread, and may be that of others who compute on it.
extern "C" void hifi_multiply(const hifi::Product& p) {
  const int threads = omp_get_max_threads();
  if (threads != 1) omp_set_num_threads(1);
  const auto size = [](std::size_t n) { return static_cast<blasint>(n); };
  cblas_sgemm(CblasRowMajor, CblasNoTrans, p.b_transposed ? CblasTrans : CblasNoTrans,
              size(hifi::whole_tiles(p.rows)), size(p.columns), size(p.depth), 1.0F, p.a, size(p.a_stride),
              p.b, size(p.b_stride), p.add ? 1.0F : 0.0F, p.c, size(p.c_stride));
  if (threads != 1) omp_set_num_threads(threads);
}
