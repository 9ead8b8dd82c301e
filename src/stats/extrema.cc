#include "stats/extrema.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/random.h"
#include "stats/student.h"

namespace hifi {

namespace {

// The Student process may be this much longer than the normal one. It matters below a dozen blocks, where the
// noise of neighbouring contexts, hence of their errors, is too much alike to need all of the Student factor.
constexpr double kMostOverNormal = 1.25;

}  // namespace

std::size_t BlockRows::rows() const { return std::accumulate(parts.begin(), parts.end(), std::size_t{0}); }

double BlockRows::degrees_of_freedom() const {
  return static_cast<double>(*std::min_element(parts.begin(), parts.end())) - 1;
}

double half_value(const BlockRows& rows, double value, std::span<const double> influence, std::size_t parity,
                  double* variance) {
  *variance = 0;
  std::size_t first = 0;
  for (const std::size_t blocks : rows.parts) {
    const auto all = static_cast<double>(blocks);
    const double unscale = all * std::sqrt((all - 1) / all);
    double sum = 0, squares = 0, count = 0;
    for (std::size_t g = first + parity; g < first + blocks; g += 2) {
      const double deviation = unscale * influence[g];
      sum += deviation;
      squares += deviation * deviation;
      ++count;
    }
    value += sum / count;
    *variance += (squares - sum * sum / count) / ((count - 1) * count);
    first += blocks;
  }
  return value;
}

struct MaxInferrer::Near {
  std::vector<std::size_t> which;
  std::vector<double> value;
  std::vector<double> error;
  double plugin = 0;
  bool unknown = false;  // one of them has error 0 without being exact

  std::size_t size() const { return value.size(); }
  std::size_t top() const {
    return static_cast<std::size_t>(std::max_element(value.begin(), value.end()) - value.begin());
  }
  std::size_t noisy() const {
    return static_cast<std::size_t>(
        std::count_if(error.begin(), error.end(), [](double e) { return e > 0; }));
  }
};

struct MaxInferrer::Simulated {
  double quantile = 0;  // of the largest studentised one
  double bias = 0;      // the mean of the largest
};

MaxInferrer::MaxInferrer(BlockRows rows, const MaxOptions& options, std::uint64_t seed)
    : rows_(std::move(rows)),
      options_(options),
      t_(t_quantile(1 - options.alpha / 2, rows_.degrees_of_freedom())) {
  if (!options.independent)
    multipliers_.emplace(options.draws, rows_.rows(), rows_.degrees_of_freedom(), seed);
}

std::optional<double> MaxInferrer::half_width(double error, bool zero_is_exact) const {
  if (error == 0 && !zero_is_exact) return std::nullopt;
  return t_ * error;
}

// Keep C with h_C >= max(h - k0 s) - 2 k0 s_C; k0 is the t quantile at 1 - .1 / (ln(8 G) V).
MaxInferrer::Near MaxInferrer::select(const Statistics& s) const {
  const auto count = static_cast<double>(s.value.size());
  const double blocks = rows_.degrees_of_freedom() + 1;
  const double k0 = t_quantile(1 - 0.1 / (std::log(8 * blocks) * count), rows_.degrees_of_freedom());
  Near near;
  double bar = s.constant.value_or(-HUGE_VAL);
  double plugin = bar;
  for (std::size_t c = 0; c < s.value.size(); ++c) {
    plugin = std::max(plugin, s.value[c]);
    const double low = s.error[c] > 0 || s.zero_is_exact ? s.value[c] - k0 * s.error[c] : -HUGE_VAL;
    bar = std::max(bar, low);
  }
  near.plugin = plugin;
  for (std::size_t c = 0; c < s.value.size(); ++c) {
    if (s.value[c] < bar - 2 * k0 * s.error[c]) continue;
    if (s.error[c] == 0 && !s.zero_is_exact) {
      near.unknown = true;
    } else {
      near.which.push_back(c);
      near.value.push_back(s.value[c]);
      near.error.push_back(s.error[c]);
    }
  }
  return near;
}

double MaxInferrer::bonferroni(std::size_t noisy) const {
  return t_quantile(1 - options_.alpha / (2 * static_cast<double>(noisy)), rows_.degrees_of_freedom());
}

// The quantile of the largest studentised noise of all near-maximisers, and the mean of the largest noise of
// those within 2 standard errors, of the difference, of the largest.
MaxInferrer::Simulated MaxInferrer::simulate(const Statistics& statistics, const Near& near) const {
  const std::size_t noisy = near.noisy();
  // A quantile at alpha / 2 needs some twenty draws beyond it; else Bonferroni, which is never too short.
  const bool quantile = noisy > 1 && static_cast<double>(options_.draws) * options_.alpha >= 20;
  Simulated result{.quantile = noisy <= 1 ? t_ : bonferroni(noisy)};

  // In units of the largest error, so that floats hold them.
  const double unit = std::max(*std::max_element(near.error.begin(), near.error.end()), 1e-300);
  const std::size_t stride = padded(rows_.rows());
  std::vector<float> influence(stride * near.size(), 0.0F);
  std::vector<double> one(rows_.rows());
  for (std::size_t c = 0; c < near.size(); ++c) {
    statistics.influence(near.which[c], one);
    for (std::size_t g = 0; g < one.size(); ++g)
      influence[c * stride + g] = static_cast<float>(one[g] / unit);
  }
  const std::size_t top = near.top();
  Weighing studentised, plain;
  std::size_t close = 0;
  for (std::size_t c = 0; c < near.size(); ++c) {
    double squares = 0;
    for (std::size_t g = 0; g < stride; ++g) {
      const double difference = influence[c * stride + g] - influence[top * stride + g];
      squares += difference * difference;
    }
    const bool is_close = near.value[top] - near.value[c] <= 2 * unit * std::sqrt(squares);
    close += is_close ? 1 : 0;
    const bool is_noisy = near.error[c] > 0;
    studentised.factor.push_back(is_noisy ? static_cast<float>(unit / near.error[c]) : 0.0F);
    studentised.shift.push_back(is_noisy ? 0.0F : -HUGE_VALF);
    plain.factor.push_back(1.0F);
    plain.shift.push_back(is_close ? 0.0F : -HUGE_VALF);
  }
  if (!quantile && close <= 1) return result;

  std::vector<float> largest_ratio, largest;
  multipliers_->largest(influence, studentised, plain, largest_ratio, largest);
  if (quantile) {
    const auto at = static_cast<std::ptrdiff_t>(
        std::ceil((1 - options_.alpha / 2) * static_cast<double>(options_.draws)) - 1);
    const auto quantile_of = [at](std::vector<float> values) {
      std::nth_element(values.begin(), values.begin() + at, values.end());
      return static_cast<double>(values[static_cast<std::size_t>(at)]);
    };
    const double normal = quantile_of(largest_ratio);
    for (std::size_t d = 0; d < largest_ratio.size(); ++d)
      largest_ratio[d] = static_cast<float>(largest_ratio[d] / multipliers_->scale()[d]);
    result.quantile = std::max(t_, std::min(quantile_of(largest_ratio), kMostOverNormal * normal));
  }
  if (close > 1)
    result.bias =
        unit * std::accumulate(largest.begin(), largest.end(), 0.0) / static_cast<double>(largest.size());
  return result;
}

namespace {

// The mean of the largest of independent normal numbers with these standard deviations: from the product of
// their distributions, deviations in bins of 5 %.
double mean_of_maximum(const std::vector<double>& deviations) {
  constexpr double kRatio = 1.05;
  constexpr std::size_t kBins = 142;  // down to a thousandth of the largest
  constexpr int kSteps = 400;
  constexpr double kReach = 8;
  const double largest = *std::max_element(deviations.begin(), deviations.end());
  if (largest == 0) return 0;
  std::array<double, kBins> count{};
  for (const double s : deviations) {
    const double bin = s > 0 ? std::round(std::log(largest / s) / std::log(kRatio)) : kBins;
    ++count[static_cast<std::size_t>(std::min(bin, static_cast<double>(kBins - 1)))];
  }
  double below = 0;  // the integral of the distribution of the maximum
  for (int k = 0; k < kSteps; ++k) {
    const double x = kReach * (2 * (k + .5) / kSteps - 1);
    double log_probability = 0;
    double scaled = x;
    for (std::size_t b = 0; b < kBins; ++b, scaled *= kRatio) {
      if (count[b] > 0) log_probability += count[b] * std::log(std::erfc(-scaled / std::numbers::sqrt2) / 2);
      if (log_probability < -50) break;
    }
    below += std::exp(log_probability) * 2 * kReach / kSteps;
  }
  return largest * (kReach - below);
}

}  // namespace

double MaxInferrer::independent_bias(const Near& near) const {
  const std::size_t top = near.top();
  std::vector<double> close;
  for (std::size_t c = 0; c < near.size(); ++c) {
    const double both = c == top ? 0 : std::hypot(near.error[c], near.error[top]);
    if (near.value[top] - near.value[c] <= 2 * both) close.push_back(near.error[c]);
  }
  return close.size() <= 1 ? 0 : mean_of_maximum(close);
}

// Picks the maximiser on one half of the blocks and bounds it on the other, both ways, each at alpha / 4.
void MaxInferrer::split(const Statistics& statistics, const Near& near, MaxInference& result) const {
  std::vector<double> influence(rows_.rows());
  double variance = 0, held_out = 0, low = -HUGE_VAL;
  std::vector<double> half(near.size());
  for (const std::size_t parity : {0U, 1U}) {
    if (statistics.half) {
      statistics.half(parity, near.which, half);
    } else {
      for (std::size_t c = 0; c < near.size(); ++c) {
        statistics.influence(near.which[c], influence);
        half[c] = half_value(rows_, near.value[c], influence, parity, &variance);
      }
    }
    const auto chosen = static_cast<std::size_t>(std::max_element(half.begin(), half.end()) - half.begin());
    statistics.influence(near.which[chosen], influence);
    const double other = half_value(rows_, near.value[chosen], influence, 1 - parity, &variance);
    const double df = std::max(1.0, std::floor((rows_.degrees_of_freedom() + 1) / 2) - 1);
    held_out += other / 2;
    low = std::max(low, other - t_quantile(1 - options_.alpha / 4, df) * std::sqrt(variance));
  }
  result.corrected = std::min(result.plugin, held_out);
  result.low = low;
}

MaxInference MaxInferrer::infer(const Statistics& statistics) const {
  const Near near = select(statistics);
  MaxInference result{.plugin = near.plugin, .corrected = near.plugin, .near = near.size()};
  double low = statistics.constant.value_or(-HUGE_VAL);
  double high = low;
  for (std::size_t c = 0; c < near.size(); ++c) high = std::max(high, near.value[c] + t_ * near.error[c]);
  if (near.size() > options_.simulated && !options_.independent) {
    split(statistics, near, result);
    low = std::max(low, *result.low);
  } else if (near.size() > 0) {
    const std::size_t noisy = near.noisy();
    const Simulated simulated = options_.independent
                                    ? Simulated{noisy <= 1 ? t_ : bonferroni(noisy), independent_bias(near)}
                                    : simulate(statistics, near);
    for (std::size_t c = 0; c < near.size(); ++c)
      low = std::max(low, near.value[c] - simulated.quantile * near.error[c]);
    // The correction is about the noisy statistics; one that is known exactly cannot be undercut.
    if (near.value[near.top()] == near.plugin) result.corrected = near.plugin - simulated.bias;
  }
  if (statistics.constant) result.corrected = std::max(result.corrected, *statistics.constant);
  if (low > -HUGE_VAL) result.low = low;
  if (!near.unknown && high > -HUGE_VAL) result.high = high;
  return result;
}

}  // namespace hifi
