#include "sampling/a3_monitor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "stats/student.h"

namespace hifi {

namespace {

constexpr std::size_t kFewest = 8;  // diamonds before a pair is judged
constexpr double kLevel = .01;

// Looking after every diamond would flag 7 % of the pairs for which coupling changes nothing. So there is a
// look at 8, 16, 32, .. diamonds, the k-th at 6 / (pi k)^2 of the level, which adds up to it.
double level_of_look(std::size_t count) {
  if (count < kFewest || !std::has_single_bit(count)) return 0;
  const auto look = static_cast<double>(std::countr_zero(count) - std::countr_zero(kFewest) + 1);
  return kLevel * 6 / std::pow(std::numbers::pi * look, 2);
}

double variance(std::span<const double> values) {
  double mean = 0;
  for (const double x : values) mean += x / static_cast<double>(values.size());
  double squares = 0;
  for (const double x : values) squares += (x - mean) * (x - mean);
  return squares / static_cast<double>(values.size() - 1);
}

}  // namespace

bool A3Monitor::see(Pair pair, const std::array<std::span<const double>, 4>& corners) {
  const std::size_t slices = corners[0].size();
  if (slices < 2) return false;
  std::vector<double> mixed(slices);
  double apart = 0;
  for (const auto& corner : corners) apart += variance(corner);
  for (std::size_t k = 0; k < slices; ++k) {
    mixed[k] = (corners[1][k] - corners[3][k]) - (corners[0][k] - corners[2][k]);
  }
  State& state = pairs_[pair];
  const double saved = apart - variance(mixed);
  ++state.count;
  const double step = saved - state.mean;
  state.mean += step / static_cast<double>(state.count);
  state.squares += step * (saved - state.mean);
  const double level = level_of_look(state.count);
  if (state.flagged || level == 0) return false;
  const auto count = static_cast<double>(state.count);
  const double error = std::sqrt(state.squares / (count - 1) / count);
  state.flagged = state.mean < -t_quantile(1 - level, count - 1) * error;
  return state.flagged;
}

bool A3Monitor::flagged(Pair pair) const {
  const auto found = pairs_.find(pair);
  return found != pairs_.end() && found->second.flagged;
}

std::pair<std::size_t, double> A3Monitor::saving(Pair pair) const {
  const auto found = pairs_.find(pair);
  return found == pairs_.end() ? std::pair<std::size_t, double>{0, 0}
                               : std::pair{found->second.count, found->second.mean};
}

}  // namespace hifi
