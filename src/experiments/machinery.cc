#include "experiments/machinery.h"

#include "decomposition/contrast.h"
#include "indices/indices.h"

namespace hifi {

Machinery our_machinery() {
  return {.decompose =
              [](std::size_t players, std::span<const double> losses) {
                Workers workers(1);
                return scan_dense(players, losses, {}, workers);
              },
          .index =
              [](IndexKind kind, std::size_t players, std::size_t order, std::span<const double> losses) {
                return IndexSet({kind}, players, order).evaluate(losses)[0];
              },
          .mixed_difference =
              [](std::span<const double, 4> corners) {
                std::vector<double> values;
                Contrast::mixed_difference(2, 0, 1).evaluate(corners, values);
                return values[0];
              }};
}

}  // namespace hifi
