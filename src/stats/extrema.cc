#include "stats/extrema.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.h"
#include "stats/student.h"

namespace hifi {

std::size_t BlockRows::rows() const { return std::accumulate(parts.begin(), parts.end(), std::size_t{0}); }

double BlockRows::degrees_of_freedom() const {
  return static_cast<double>(*std::min_element(parts.begin(), parts.end())) - 1;
}

// The near-maximisers with their influences, row-major by block so that sums over blocks run over adjacent
// statistics.
struct MaxInferrer::Near {
  std::vector<double> value;
  std::vector<double> error;
  std::vector<double> influence;  // rows x value.size()
  double plugin = 0;
  bool unknown = false;      // one of them has error 0 without being exact
  bool independent = false;  // there are no influences

  std::size_t size() const { return value.size(); }
  const double* row(std::size_t g) const { return influence.data() + g * size(); }
};

MaxInferrer::MaxInferrer(BlockRows rows, const MaxOptions& options, std::uint64_t seed)
    : rows_(std::move(rows)),
      options_(options),
      t_(t_quantile(1 - options.alpha / 2, rows_.degrees_of_freedom())) {
  RandomStream normal(seed, Purpose::multipliers);
  multiplier_.resize(options.draws * rows_.rows());
  for (double& value : multiplier_) value = normal.normal();
  RandomStream chi(seed, Purpose::multiplier_scale);
  const auto df = static_cast<std::size_t>(rows_.degrees_of_freedom());
  scale_.resize(options.draws);
  for (double& value : scale_) {
    double sum = 0;
    for (std::size_t k = 0; k < df; ++k) sum += std::pow(chi.normal(), 2);
    value = std::sqrt(sum / static_cast<double>(df));
  }
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
  near.plugin = bar;
  for (std::size_t c = 0; c < s.value.size(); ++c) {
    near.plugin = std::max(near.plugin, s.value[c]);
    if (s.error[c] > 0 || s.zero_is_exact) bar = std::max(bar, s.value[c] - k0 * s.error[c]);
  }
  std::vector<std::size_t> kept;
  for (std::size_t c = 0; c < s.value.size(); ++c) {
    if (s.value[c] < bar - 2 * k0 * s.error[c]) continue;
    if (s.error[c] == 0 && !s.zero_is_exact) {
      near.unknown = true;
    } else {
      kept.push_back(c);
      near.value.push_back(s.value[c]);
      near.error.push_back(s.error[c]);
    }
  }
  near.independent = !s.influence;
  if (near.independent) return near;
  near.influence.resize(rows_.rows() * kept.size());
  std::vector<double> one(rows_.rows());
  for (std::size_t k = 0; k < kept.size(); ++k) {
    s.influence(kept[k], one);
    for (std::size_t g = 0; g < one.size(); ++g) near.influence[g * kept.size() + k] = one[g];
  }
  return near;
}

namespace {

// process[c] = sum over blocks of multiplier * influence.
void multiply(std::span<const double> multipliers, const double* influence, std::span<double> process) {
  std::fill(process.begin(), process.end(), 0.0);
  for (std::size_t g = 0; g < multipliers.size(); ++g) {
    const double* row = influence + g * process.size();
    for (std::size_t c = 0; c < process.size(); ++c) process[c] += multipliers[g] * row[c];
  }
}

}  // namespace

double MaxInferrer::simultaneous_quantile(const Near& near) const {
  const auto noisy = static_cast<std::size_t>(
      std::count_if(near.error.begin(), near.error.end(), [](double e) { return e > 0; }));
  if (noisy <= 1) return t_;
  // A quantile at alpha / 2 needs some twenty draws beyond it; else Bonferroni, which is never too short.
  if (near.independent || static_cast<double>(options_.draws) * options_.alpha < 20) {
    return t_quantile(1 - options_.alpha / (2 * static_cast<double>(noisy)), rows_.degrees_of_freedom());
  }
  std::vector<double> largest(options_.draws);
  std::vector<double> process(near.size());
  for (std::size_t d = 0; d < options_.draws; ++d) {
    multiply(std::span(multiplier_).subspan(d * rows_.rows(), rows_.rows()), near.influence.data(), process);
    double top = -HUGE_VAL;
    for (std::size_t c = 0; c < near.size(); ++c) {
      if (near.error[c] > 0) top = std::max(top, process[c] / near.error[c]);
    }
    largest[d] = top / scale_[d];
  }
  const auto at =
      static_cast<std::size_t>(std::ceil((1 - options_.alpha / 2) * static_cast<double>(options_.draws))) - 1;
  std::nth_element(largest.begin(), largest.begin() + static_cast<std::ptrdiff_t>(at), largest.end());
  return std::max(t_, largest[at]);
}

// The mean of the maximum of the noise over those within 2 standard errors, of the difference, of the
// largest.
double MaxInferrer::selection_bias(const Near& near) const {
  const auto top =
      static_cast<std::size_t>(std::max_element(near.value.begin(), near.value.end()) - near.value.begin());
  std::vector<std::size_t> close;
  for (std::size_t c = 0; c < near.size(); ++c) {
    double squares = 0;
    for (std::size_t g = 0; g < rows_.rows(); ++g) squares += std::pow(near.row(g)[c] - near.row(g)[top], 2);
    if (near.value[top] - near.value[c] <= 2 * std::sqrt(squares)) close.push_back(c);
  }
  if (close.size() <= 1) return 0;
  std::vector<double> influence(rows_.rows() * close.size());
  for (std::size_t g = 0; g < rows_.rows(); ++g) {
    for (std::size_t k = 0; k < close.size(); ++k) influence[g * close.size() + k] = near.row(g)[close[k]];
  }
  double sum = 0;
  std::vector<double> process(close.size());
  for (std::size_t d = 0; d < options_.draws; ++d) {
    multiply(std::span(multiplier_).subspan(d * rows_.rows(), rows_.rows()), influence.data(), process);
    sum += *std::max_element(process.begin(), process.end());
  }
  return sum / static_cast<double>(options_.draws);
}

double MaxInferrer::independent_bias(const Near& near) const {
  const auto top =
      static_cast<std::size_t>(std::max_element(near.value.begin(), near.value.end()) - near.value.begin());
  std::vector<double> close;
  for (std::size_t c = 0; c < near.size(); ++c) {
    const double both = c == top ? 0 : std::hypot(near.error[c], near.error[top]);
    if (near.value[top] - near.value[c] <= 2 * both) close.push_back(near.error[c]);
  }
  if (close.size() <= 1) return 0;
  RandomStream normal(0, Purpose::multipliers, 1);
  double sum = 0;
  for (std::size_t d = 0; d < options_.draws; ++d) {
    double largest = -HUGE_VAL;
    for (const double error : close) largest = std::max(largest, error * normal.normal());
    sum += largest;
  }
  return sum / static_cast<double>(options_.draws);
}

// Picks the maximiser on one half of the blocks and bounds it on the other, both ways, each at alpha / 4.
void MaxInferrer::split(const Near& near, MaxInference& result) const {
  double held_out = 0;
  double low = -HUGE_VAL;
  for (const std::size_t parity : {0U, 1U}) {
    // The mean over a half: the value plus, for each part, the mean deviation of its blocks of that parity.
    const auto half = [&](std::size_t c, std::size_t want, double& variance) {
      double mean = near.value[c];
      variance = 0;
      std::size_t first = 0;
      for (const std::size_t blocks : rows_.parts) {
        const auto all = static_cast<double>(blocks);
        const double unscale = all * std::sqrt((all - 1) / all);
        double sum = 0, squares = 0, count = 0;
        for (std::size_t g = first + want; g < first + blocks; g += 2) {
          const double deviation = unscale * near.row(g)[c];
          sum += deviation;
          squares += deviation * deviation;
          ++count;
        }
        mean += sum / count;
        variance += (squares - sum * sum / count) / ((count - 1) * count);
        first += blocks;
      }
      return mean;
    };
    double ignored = 0, variance = 0, best = -HUGE_VAL;
    std::size_t chosen = 0;
    for (std::size_t c = 0; c < near.size(); ++c) {
      const double mean = half(c, parity, ignored);
      if (mean > best) {
        best = mean;
        chosen = c;
      }
    }
    const double other = half(chosen, 1 - parity, variance);
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
  if (near.size() > options_.simulated && !near.independent) {
    split(near, result);
    low = std::max(low, *result.low);
  } else if (near.size() > 0) {
    const double k = simultaneous_quantile(near);
    for (std::size_t c = 0; c < near.size(); ++c) low = std::max(low, near.value[c] - k * near.error[c]);
    // The correction is about the noisy statistics; one that is known exactly cannot be undercut.
    const double largest = *std::max_element(near.value.begin(), near.value.end());
    if (largest == near.plugin)
      result.corrected = near.plugin - (near.independent ? independent_bias(near) : selection_bias(near));
  }
  if (statistics.constant) result.corrected = std::max(result.corrected, *statistics.constant);
  if (low > -HUGE_VAL) result.low = low;
  if (!near.unknown && high > -HUGE_VAL) result.high = high;
  return result;
}

}  // namespace hifi
