#include "decomposition/bands.h"

#include <algorithm>
#include <cmath>

#include "decomposition/contrast.h"
#include "stats/concentration.h"
#include "stats/student.h"

namespace hifi {

std::optional<Band> parse_band(std::string_view interval) {
  if (interval == "hoeffding") return Band::hoeffding;
  if (interval == "bernstein") return Band::bernstein;
  if (interval == "paper") return Band::paper;
  return std::nullopt;
}

bool needs_bounded_loss(Band band) { return band != Band::paper; }

std::vector<double> band_radii(const BandInput& input, Band band) {
  std::vector<double> radii(input.losses.size());
  const double each = input.alpha / static_cast<double>(radii.size());  // the union bound
  switch (band) {
    case Band::hoeffding:
      std::fill(radii.begin(), radii.end(), hoeffding_radius(*input.loss_range, input.draws, each));
      break;
    case Band::bernstein:
      for (std::size_t s = 0; s < radii.size(); ++s)
        radii[s] = bernstein_radius(input.variances[s], *input.loss_range, input.draws, each);
      break;
    case Band::paper: {
      const double largest = *std::max_element(input.variances.begin(), input.variances.end());
      std::fill(radii.begin(), radii.end(),
                t_quantile(1 - input.alpha / 2, input.draws - 1) * std::sqrt(largest / input.draws));
      break;
    }
  }
  return radii;
}

namespace {

struct Ends {
  double low = -HUGE_VAL;
  double high = -HUGE_VAL;

  void add(double value, double radius) {
    low = std::max(low, value - radius);
    high = std::max(high, value + radius);
  }
  void put(Quantity& q) const {
    q.low = low;
    q.high = high;
  }
  void put_negated(Quantity& q) const {
    q.low = -high;
    q.high = -low;
  }
};

}  // namespace

void put_bands(ScanResult& scan, const BandInput& input, Band band, Workers& workers) {
  const std::vector<double> radii = band_radii(input, band);
  // Sums of values and of radii over the corners of a context.
  const auto radius = [&](std::size_t mask, std::size_t i) {
    return radii[mask] + radii[mask | std::size_t{1} << i];
  };
  workers.parallel_for(input.players, [&](std::size_t i) {
    const Contrast gain = Contrast::gain(input.players, i);
    const double alone = gain.evaluate(input.losses, 0);
    Ends most, least, synergy{0, 0}, redundancy{0, 0}, single, last;
    for (std::size_t k = 0; k < gain.contexts(); ++k) {
      const double value = gain.evaluate(input.losses, k);
      const double reach = radius(gain.context(k), i);
      most.add(value, reach);
      least.add(-value, reach);
      if (k == 0) single.add(value, reach);
      if (k + 1 == gain.contexts()) last.add(value, reach);
      if (k == 0) continue;
      synergy.add(value - alone, reach + radius(0, i));
      redundancy.add(alone - value, reach + radius(0, i));
    }
    FeatureProfile& f = scan.features[i];
    most.put(f.Lmax);
    least.put_negated(f.U);
    synergy.put(f.S);
    redundancy.put(f.R);
    single.put(f.pi);
    last.put(f.last);
  });
  workers.parallel_for(scan.pairs.size(), [&](std::size_t p) {
    PairProfile& pair = scan.pairs[p];
    const Contrast mixed = Contrast::mixed_difference(input.players, pair.first, pair.second);
    Ends synergy{0, 0}, redundancy{0, 0};
    for (std::size_t k = 0; k < mixed.contexts(); ++k) {
      const std::size_t context = mixed.context(k);
      const double value = mixed.evaluate(input.losses, k);
      const double reach =
          radius(context, pair.first) + radius(context | std::size_t{1} << pair.second, pair.first);
      synergy.add(value, reach);
      redundancy.add(-value, reach);
    }
    synergy.put(pair.S);
    redundancy.put(pair.R);
  });
}

}  // namespace hifi
