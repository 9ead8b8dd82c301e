#include "masking/off_distribution.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random.h"

namespace hifi {

namespace {

class Distance {
 public:
  Distance(const Frame& data, const InputColumns& columns) : scale_(data.width, 0) {
    for (std::size_t c = 0; c < data.width; ++c) {
      if (c < columns.categories.size() && !columns.categories[c].empty()) continue;  // 0: equal or not
      double count = 0, mean = 0, squares = 0;
      for (std::size_t r = 0; r < data.rows; ++r) {
        const double x = data.row(r)[c];
        if (!std::isfinite(x)) continue;
        const double step = x - mean;
        mean += step / ++count;
        squares += step * (x - mean);
      }
      if (squares > 0) scale_[c] = std::sqrt(squares / count);
    }
  }

  double squared(std::span<const double> a, std::span<const double> b) const {
    double sum = 0;
    for (std::size_t c = 0; c < a.size(); ++c) {
      if (scale_[c] > 0 && std::isfinite(a[c]) && std::isfinite(b[c])) {
        const double d = (a[c] - b[c]) / scale_[c];
        sum += d * d;
      } else {
        sum += a[c] == b[c] || (std::isnan(a[c]) && std::isnan(b[c])) ? 0 : 1;
      }
    }
    return sum;
  }

 private:
  std::vector<double> scale_;
};

}  // namespace

std::optional<double> off_distribution(const Frame& data, const Frame& background,
                                       const InputColumns& columns, const Players& players,
                                       std::uint64_t seed) {
  constexpr std::size_t kMaskedRows = 256;
  constexpr std::size_t kDataRows = 2048;
  if (data.rows < 3) return std::nullopt;
  const Distance distance(data, columns);
  RandomStream random(seed, Purpose::probe, 1);
  std::vector<std::uint32_t> rows = random.permutation(data.rows);
  rows.resize(std::min(rows.size(), kDataRows));
  // A masked row keeps a part of its instance and of its background row: these do not count as neighbours.
  const auto nearest = [&](std::span<const double> row, std::uint32_t instance,
                           std::span<const double> other) {
    double least = HUGE_VAL;
    for (const std::uint32_t r : rows) {
      if (r == instance || std::equal(other.begin(), other.end(), data.row(r).begin())) continue;
      least = std::min(least, distance.squared(row, data.row(r)));
    }
    return std::sqrt(least);
  };
  double masked = 0, own = 0;
  std::vector<double> row;
  for (std::size_t k = 0; k < kMaskedRows; ++k) {
    const auto instance = static_cast<std::uint32_t>(random.below(data.rows));
    const auto other = background.row(random.below(background.rows));
    row.assign(data.row(instance).begin(), data.row(instance).end());
    const double alone = nearest(row, instance, other);
    // A row of which nothing or everything is replaced is no hybrid.
    std::vector<std::size_t> replaced;
    do {
      replaced.clear();
      for (std::size_t p = 0; p < players.size(); ++p)
        if (random.below(2) == 1) replaced.push_back(p);
    } while (players.size() > 1 && (replaced.empty() || replaced.size() == players.size()));
    for (const std::size_t p : replaced)
      for (const std::uint32_t c : players.columns[p]) row[c] = other[c];
    const double hybrid = nearest(row, instance, other);
    if (std::isinf(alone) || std::isinf(hybrid)) continue;  // no third row
    own += alone;
    masked += hybrid;
  }
  if (own <= 0) return std::nullopt;
  return masked / own;
}

}  // namespace hifi
