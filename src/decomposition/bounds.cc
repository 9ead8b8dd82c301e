#include "decomposition/bounds.h"

#include <algorithm>
#include <cmath>

namespace hifi {

namespace {

void put_ends(Quantity& q, const std::optional<Bounds>& interval, bool usable) {
  q.low = usable && interval ? interval->low : std::nullopt;
  q.high = usable && interval ? interval->high : std::nullopt;
}

// The correction of a maximum may leave the interval when contexts differ much in their noise.
void into_interval(std::optional<Bounds>& b) {
  if (b && b->high) b->value = std::min(b->value, *b->high);
  if (b && b->low) b->value = std::max(b->value, *b->low);
}

PlayerBounds consistent(PlayerBounds b) {
  into_interval(b.U);
  into_interval(b.Lmax);
  if (!b.pi || !b.U || !b.Lmax) return b;
  const double alone = b.pi->value;
  b.U->value = std::min(b.U->value, alone);
  b.R->value = alone - b.U->value;
  b.S->value = std::max(b.Lmax->value, alone) - alone;
  b.Lmax->value = alone + b.S->value;
  return b;
}

void put_value(Quantity& q, const std::optional<Bounds>& corrected) {
  if (corrected) q.value = corrected->value;
}

void put_population(Quantity& q, const std::optional<Bounds>& estimate) {
  if (!estimate) return;
  double value = estimate->value;
  if (q.high) value = std::min(value, *q.high);
  q.population = q.low ? std::max(value, *q.low) : value;
}

}  // namespace

Bounds negated(const Bounds& b) {
  const auto minus = [](const std::optional<double>& x) { return x ? std::optional(-*x) : std::nullopt; };
  return {-b.value, minus(b.high), minus(b.low)};
}

double error_floor(const InferenceOptions& options, double units, const MaxInferrer& inferrer) {
  if (!options.loss_range) return 0;
  // 3 of N for 0/1 losses (95 %), else the empirical-Bernstein term of Maurer and Pontil 2009 (arXiv
  // 0907.3740, theorem 4).
  const double reach = options.zero_one ? -std::log(options.alpha) / units
                                        : 7 * std::log(2 / options.alpha) / (3 * std::max(1.0, units - 1));
  return *options.loss_range * reach / inferrer.half_width(1, true).value();
}

Bounds single_bounds(const std::optional<MaxInferrer>& inferrer, double value, double error) {
  if (!inferrer) return {value, value, value};
  const auto half = inferrer->half_width(error, false);
  if (!half) return {value, std::nullopt, std::nullopt};
  return {value, value - *half, value + *half};
}

void write(FeatureProfile& f, const Findings<PlayerBounds>& findings) {
  static constexpr std::pair<Quantity FeatureProfile::*, std::optional<Bounds> PlayerBounds::*> kNumbers[] = {
      {&FeatureProfile::U, &PlayerBounds::U},       {&FeatureProfile::R, &PlayerBounds::R},
      {&FeatureProfile::S, &PlayerBounds::S},       {&FeatureProfile::pi, &PlayerBounds::pi},
      {&FeatureProfile::Lmax, &PlayerBounds::Lmax}, {&FeatureProfile::last, &PlayerBounds::last}};
  const PlayerBounds corrected =
      consistent(findings.corrected != nullptr ? *findings.corrected : PlayerBounds{});
  const PlayerBounds population = consistent(findings.interval);
  for (const auto& [quantity, bounds] : kNumbers) {
    put_ends(f.*quantity, findings.interval.*bounds, findings.usable);
    put_value(f.*quantity, corrected.*bounds);
    if (findings.population && findings.usable) put_population(f.*quantity, population.*bounds);
  }
}

void write(PairProfile& p, const Findings<PairBounds>& findings) {
  const auto one = [&](Quantity& q, Bounds PairBounds::*bounds) {
    put_ends(q, findings.interval.*bounds, findings.usable);
    if (findings.corrected != nullptr) {
      std::optional<Bounds> corrected = findings.corrected->*bounds;
      into_interval(corrected);
      put_value(q, corrected);
    }
    if (findings.population && findings.usable) put_population(q, findings.interval.*bounds);
  };
  one(p.S, &PairBounds::S);
  one(p.R, &PairBounds::R);
}

}  // namespace hifi
