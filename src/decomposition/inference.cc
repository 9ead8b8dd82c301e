#include "decomposition/inference.h"

#include <algorithm>
#include <cmath>

#include "decomposition/bounds.h"
#include "decomposition/contrast.h"

namespace hifi {

namespace {

// All of the inference under one kind of noise.
class Analysis {
 public:
  Analysis(const InferenceInput& input, const Noise& noise, const InferenceOptions& options, std::size_t idle)
      : input_(input), noise_(noise), options_(options), idle_(idle) {
    if (noise.kind != Noise::Kind::blocks && noise.kind != Noise::Kind::cells) return;
    const bool independent = noise.kind == Noise::Kind::cells;
    inferrer_.emplace(noise.rows, MaxOptions{.alpha = options.alpha, .independent = independent},
                      kMultiplierSeed);
    if (!independent) make_halves();
    floor_ = error_floor(options, noise.units, *inferrer_);
  }

  bool usable() const { return noise_.kind != Noise::Kind::absent; }

  PlayerBounds player(std::size_t i) const {
    const Contrast gain = Contrast::gain(input_.players, i);
    Family family{.contrast = gain};
    gain.evaluate(input_.losses, family.value);
    errors(gain, false, family.error);
    PlayerBounds bounds;
    bounds.pi = single_bounds(inferrer_, family.value.front(), family.error.front());
    bounds.last = single_bounds(inferrer_, family.value.back(), family.error.back());
    const double alone = family.value.front();
    drop_idle(family);
    bounds.Lmax = largest(family, 1);
    bounds.U = negated(largest(family, -1));

    // Measured from the empty context, that one is 0 by algebra.
    Family measured{.contrast = gain, .from_empty = true, .constant = 0.0};
    gain.evaluate(input_.losses, measured.value);
    for (double& x : measured.value) x -= alone;
    errors(gain, true, measured.error);
    drop_idle(measured);
    bounds.S = largest(measured, 1);
    bounds.R = largest(measured, -1);
    return bounds;
  }

  PairBounds pair(std::size_t i, std::size_t j) const {
    const Contrast mixed = Contrast::mixed_difference(input_.players, i, j);
    Family family{.contrast = mixed, .constant = 0.0};
    mixed.evaluate(input_.losses, family.value);
    errors(mixed, false, family.error);
    drop_idle(family);
    const Bounds synergy = largest(family, 1);
    return {.S = synergy, .R = largest(family, -1)};
  }

 private:
  // One number per context; those of contexts that say nothing new are dropped.
  struct Family {
    const Contrast& contrast;
    bool from_empty = false;
    std::optional<double> constant;
    std::vector<double> value;
    std::vector<double> error;
    std::vector<std::size_t> contexts;  // by position; empty: all of them

    std::size_t context(std::size_t c) const { return contexts.empty() ? c : contexts[c]; }
  };

  // What the even and the odd blocks say, coalition by coalition: linear, so it serves every contrast.
  void make_halves() {
    std::vector<double> influence(noise_.rows.rows());
    double ignored = 0;
    for (auto& half : halves_) half.resize(input_.losses.size());
    for (std::size_t s = 0; s < input_.losses.size(); ++s) {
      const float* row = noise_.of(s);
      for (std::size_t g = 0; g < influence.size(); ++g)
        influence[g] = noise_.unit * static_cast<double>(row[g]);
      for (const std::size_t parity : {0U, 1U})
        halves_[parity][s] = half_value(noise_.rows, input_.losses[s], influence, parity, &ignored);
    }
  }

  void errors(const Contrast& contrast, bool from_empty, std::vector<double>& error) const {
    if (!inferrer_) {
      error.assign(contrast.contexts(), 0.0);
      return;
    }
    contrast.errors(noise_, from_empty, error);
    if (floor_ == 0) return;
    for (double& e : error) {
      if (e == 0) e = floor_;
    }
  }

  // A context with a player that changed no loss is the same as that without: its zero difference is no news.
  // Measured from the empty context, that one is the constant.
  void drop_idle(Family& family) const {
    if (idle_ == 0 && !family.from_empty) return;
    const std::size_t all = family.value.size();
    for (std::size_t k = family.from_empty ? 1 : 0; k < all; ++k) {
      if ((family.contrast.context(k) & idle_) != 0) continue;
      const std::size_t c = family.contexts.size();
      family.contexts.push_back(k);
      family.value[c] = family.value[k];
      family.error[c] = family.error[k];
    }
    family.value.resize(family.contexts.size());
    family.error.resize(family.contexts.size());
  }

  // max over contexts of sign * value. The family is turned over, so the signs must be asked for in turn:
  // first 1, then -1.
  Bounds largest(Family& family, double sign) const {
    if (family.value.empty()) return {*family.constant, *family.constant, *family.constant};
    if (sign < 0) {
      for (double& x : family.value) x = -x;
    }
    if (!inferrer_) {
      double top = *std::max_element(family.value.begin(), family.value.end());
      if (family.constant) top = std::max(top, *family.constant);
      return {top, top, top};
    }
    Statistics s{.value = family.value, .error = family.error, .constant = family.constant};
    std::vector<double> base;
    if (noise_.kind == Noise::Kind::blocks) {
      base.assign(noise_.rows.rows(), 0.0);
      if (family.from_empty) family.contrast.influence(noise_, 0, base);
      s.influence = [&](std::size_t c, std::span<double> out) {
        family.contrast.influence(noise_, family.context(c), out);
        for (std::size_t g = 0; g < out.size(); ++g) out[g] = sign * (out[g] - base[g]);
      };
      s.half = [&](std::size_t parity, std::span<const std::size_t> which, std::span<double> out) {
        const std::vector<double>& losses = halves_[parity];
        const double alone = family.from_empty ? family.contrast.evaluate(losses, 0) : 0;
        for (std::size_t k = 0; k < which.size(); ++k)
          out[k] = sign * (family.contrast.evaluate(losses, family.context(which[k])) - alone);
      };
    }
    const MaxInference result = inferrer_->infer(s);
    return {result.corrected, result.low, result.high};
  }

  const InferenceInput& input_;
  const Noise& noise_;
  const InferenceOptions& options_;
  std::size_t idle_;  // mask of the players that changed no loss
  std::optional<MaxInferrer> inferrer_;
  std::vector<double> halves_[2];  // losses on the even and on the odd blocks alone
  double floor_ = 0;
};

bool never_moved(const InferenceInput& input, const Noise& noise, std::size_t i) {
  const Contrast gain = Contrast::gain(input.players, i);
  for (std::size_t k = 0; k < gain.contexts(); ++k) {
    if (gain.evaluate(input.losses, k) != 0) return false;
  }
  if (noise.kind == Noise::Kind::absent || noise.kind == Noise::Kind::none) return true;
  std::vector<double> error;
  gain.errors(noise, false, error);
  return std::all_of(error.begin(), error.end(), [](double x) { return x == 0; });
}

void set_zero(Quantity& q, bool population) {
  q.value = q.low = q.high = 0.0;
  if (population) q.population = 0.0;
}

}  // namespace

std::vector<std::uint32_t> infer(ScanResult& scan, const InferenceInput& input,
                                 const InferenceOptions& options, Workers& workers) {
  const Noise& interval_noise = options.population ? input.population : input.montecarlo;
  std::vector<char> idle(input.players, 0);
  workers.parallel_for(input.players,
                       [&](std::size_t i) { idle[i] = never_moved(input, interval_noise, i) ? 1 : 0; });
  std::size_t idle_mask = 0;
  for (std::size_t i = 0; i < input.players; ++i) idle_mask |= static_cast<std::size_t>(idle[i]) << i;
  const Analysis interval(input, interval_noise, options, idle_mask);
  const Analysis sampling(input, input.montecarlo, options, idle_mask);
  const bool correct =
      input.montecarlo.kind == Noise::Kind::blocks || input.montecarlo.kind == Noise::Kind::cells;

  workers.parallel_for(input.players, [&](std::size_t i) {
    FeatureProfile& f = scan.features[i];
    if (idle[i] != 0) {
      for (Quantity* q : {&f.U, &f.R, &f.S, &f.pi, &f.Lmax, &f.last}) set_zero(*q, options.population);
      return;
    }
    const PlayerBounds found = interval.player(i);
    std::optional<PlayerBounds> corrected;
    if (correct) corrected = options.population ? sampling.player(i) : found;
    write(f, {found, interval.usable(), corrected ? &*corrected : nullptr, options.population});
  });
  workers.parallel_for(scan.pairs.size(), [&](std::size_t k) {
    PairProfile& p = scan.pairs[k];
    if (idle[p.first] != 0 || idle[p.second] != 0) {
      set_zero(p.S, options.population);
      set_zero(p.R, options.population);
      return;
    }
    const PairBounds found = interval.pair(p.first, p.second);
    std::optional<PairBounds> corrected;
    if (correct) corrected = options.population ? sampling.pair(p.first, p.second) : found;
    write(p, {found, interval.usable(), corrected ? &*corrected : nullptr, options.population});
  });
  std::vector<std::uint32_t> result;
  for (std::uint32_t i = 0; i < input.players; ++i) {
    if (idle[i] != 0) result.push_back(i);
  }
  return result;
}

}  // namespace hifi
