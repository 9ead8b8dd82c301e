#include "decomposition/cell_inference.h"

#include <algorithm>
#include <cmath>

#include "decomposition/bounds.h"

namespace hifi {

double SharedDraws::value(const Corners& corners) const {
  // As gain minus gain: a player that changes no loss gets an exact 0.
  const auto loss = [&](std::size_t k) { return losses_[corners.cell[k]]; };
  return corners.count == 2 ? loss(0) - loss(1) : (loss(0) - loss(2)) - (loss(3) - loss(1));
}

double SharedDraws::error(const Corners& a, const Corners* b) const {
  if (noise_.kind == Noise::Kind::cells) {
    double variance = 0;
    for (const Corners* corners : {&a, b}) {
      for (std::size_t k = 0; corners != nullptr && k < corners->count; ++k)
        variance += noise_.variance[corners->cell[k]];
    }
    return std::sqrt(variance);
  }
  if (noise_.kind != Noise::Kind::blocks) return 0;
  std::vector<double> influence(noise_.rows.rows(), 0.0);
  add_influence(a, 1, influence);
  if (b != nullptr) add_influence(*b, -1, influence);
  double squares = 0;
  for (const double x : influence) squares += x * x;
  const double error = std::sqrt(squares);
  // Influences are kept as floats: what is this far below the noise of a loss is rounding, not noise.
  return error < 1e-6 * noise_.scale ? 0 : error;
}

std::optional<CellNumbers::Number> SharedDraws::number(const Corners& corners) const {
  return Number{value(corners), error(corners, nullptr)};
}

CellNumbers::Number SharedDraws::difference(const Corners& a, const Corners& b) const {
  return {value(a) - value(b), error(a, &b)};
}

void SharedDraws::add_influence(const Corners& corners, double factor, std::span<double> out) const {
  for (std::size_t k = 0; k < corners.count; ++k) {
    const float* row = noise_.of(corners.cell[k]);
    const double scale = factor * corners.sign(k) * noise_.unit;
    for (std::size_t g = 0; g < out.size(); ++g) out[g] += scale * static_cast<double>(row[g]);
  }
}

namespace {

// All of the inference under one kind of noise.
class CellAnalysis {
 public:
  CellAnalysis(const CellNumbers& numbers, const InferenceOptions& options) : numbers_(numbers) {
    if (numbers.kind() != Noise::Kind::blocks && numbers.kind() != Noise::Kind::cells) return;
    inferrer_.emplace(numbers.rows(),
                      MaxOptions{.alpha = options.alpha, .independent = numbers.kind() == Noise::Kind::cells},
                      kMultiplierSeed);
    floor_ = error_floor(options, numbers.units(), *inferrer_);
  }

  bool usable() const { return numbers_.kind() != Noise::Kind::absent; }
  bool noisy() const { return inferrer_.has_value(); }

  // True if the player was seen and changed no loss.
  bool never_moved(const SeenLattice& lattice, std::size_t i) const {
    bool seen = false;
    for (const SeenLattice::Edge& edge : lattice.edges(i)) {
      const auto number =
          numbers_.number(Corners::gain(lattice.place(edge.below), lattice.place(edge.above)));
      if (number && (number->value != 0 || number->error != 0)) return false;
      seen = seen || number;
    }
    return seen;
  }

  PlayerBounds player(const SeenLattice& lattice, std::size_t i) const {
    Family gains;
    std::optional<Corners> alone;
    PlayerBounds bounds;
    for (const SeenLattice::Edge& edge : lattice.edges(i)) {
      const Corners corners = Corners::gain(lattice.place(edge.below), lattice.place(edge.above));
      const auto number = numbers_.number(corners);
      if (!number) continue;
      const double error = floored(number->error);
      gains.add(corners, number->value, error);
      const std::size_t size = lattice.coalition(edge.below).count();
      if (size == 0) {
        alone = corners;
        bounds.pi = single_bounds(inferrer_, number->value, error);
      }
      if (size + 1 == lattice.players()) bounds.last = single_bounds(inferrer_, number->value, error);
    }
    if (gains.value.empty()) return bounds;
    bounds.Lmax = largest(gains, 1);
    bounds.U = negated(largest(gains, -1));
    if (!alone) return bounds;
    // Measured from the empty context, that one is 0 by algebra.
    Family measured{.base = alone, .constant = 0.0};
    for (const Corners& corners : gains.corners) {
      if (corners.cell == alone->cell) continue;
      const CellNumbers::Number number = numbers_.difference(corners, *alone);
      measured.add(corners, number.value, floored(number.error));
    }
    bounds.S = largest(measured, 1);
    bounds.R = largest(measured, -1);
    return bounds;
  }

  // Absent if no diamond of the pair has a number.
  std::optional<PairBounds> pair(std::span<const Corners> diamonds) const {
    Family family{.constant = 0.0};
    for (const Corners& corners : diamonds) {
      const auto number = numbers_.number(corners);
      if (number) family.add(corners, number->value, floored(number->error));
    }
    if (family.value.empty()) return std::nullopt;
    return PairBounds{.S = largest(family, 1), .R = largest(family, -1)};
  }

 private:
  struct Family {
    std::optional<Corners> base;  // subtracted from all
    std::optional<double> constant;
    std::vector<Corners> corners;
    std::vector<double> value;
    std::vector<double> error;

    void add(const Corners& c, double v, double e) {
      corners.push_back(c);
      value.push_back(v);
      error.push_back(e);
    }
  };

  double floored(double error) const { return error == 0 ? floor_ : error; }

  // max over contexts of sign * value.
  Bounds largest(const Family& family, double sign) const {
    if (family.value.empty()) return {*family.constant, *family.constant, *family.constant};
    std::vector<double> value = family.value;
    for (double& x : value) x *= sign;
    if (!inferrer_) {
      double top = *std::max_element(value.begin(), value.end());
      if (family.constant) top = std::max(top, *family.constant);
      return {top, top, top};
    }
    Statistics s{.value = value, .error = family.error, .constant = family.constant};
    if (numbers_.kind() == Noise::Kind::blocks) {
      s.influence = [&](std::size_t c, std::span<double> out) {
        std::fill(out.begin(), out.end(), 0.0);
        numbers_.add_influence(family.corners[c], sign, out);
        if (family.base) numbers_.add_influence(*family.base, -sign, out);
      };
    }
    const MaxInference result = inferrer_->infer(s);
    return {result.corrected, result.low, result.high};
  }

  const CellNumbers& numbers_;
  std::optional<MaxInferrer> inferrer_;
  double floor_ = 0;
};

void set_zero(Quantity& q, bool population) {
  if (!q.value) return;
  q.value = q.low = q.high = 0.0;
  if (population) q.population = 0.0;
}

}  // namespace

void infer_cells(ScanResult& scan, const SeenLattice& lattice, const CellNumbers& interval_numbers,
                 const CellNumbers& sampling_numbers, const InferenceOptions& options, Workers& workers,
                 const SideDiamonds& side) {
  const CellAnalysis interval(interval_numbers, options);
  const CellAnalysis sampling(sampling_numbers, options);
  const auto finish = [&]<class Numbers>(auto& target, const Numbers& found, const auto& sample) {
    std::optional<Numbers> corrected;
    if (sampling.noisy()) corrected = sample();
    write(target,
          Findings<Numbers>{found, interval.usable(), corrected ? &*corrected : nullptr, options.population});
  };
  std::vector<char> idle(lattice.players(), 0);
  workers.parallel_for(lattice.players(), [&](std::size_t i) {
    idle[i] = interval.usable() && interval.never_moved(lattice, i) ? 1 : 0;
    FeatureProfile& f = scan.features[i];
    if (idle[i] != 0) {
      for (Quantity* q : {&f.U, &f.R, &f.S, &f.pi, &f.Lmax, &f.last}) set_zero(*q, options.population);
      return;
    }
    finish(scan.features[i], interval.player(lattice, i), [&] { return sampling.player(lattice, i); });
  });
  std::vector<std::vector<PairProfile*>> by_first(lattice.players());
  for (PairProfile& p : scan.pairs) {
    if (p.contexts_seen > 0) by_first[p.first].push_back(&p);
  }
  workers.parallel_for(lattice.players(), [&](std::size_t i) {
    if (by_first[i].empty()) return;
    std::vector<std::vector<Corners>> diamonds(lattice.players());
    lattice.for_each_diamond(
        static_cast<std::uint32_t>(i), [&](std::uint32_t j, auto c, auto with_i, auto with_j, auto both) {
          diamonds[j].push_back(Corners::diamond(lattice.place(c), lattice.place(with_i),
                                                 lattice.place(with_j), lattice.place(both)));
        });
    for (PairProfile* p : by_first[i]) {
      if (idle[p->first] != 0 || idle[p->second] != 0) {
        set_zero(p->S, options.population);
        set_zero(p->R, options.population);
        continue;
      }
      if (const auto more = side.find({p->first, p->second}); more != side.end())
        diamonds[p->second].insert(diamonds[p->second].end(), more->second.begin(), more->second.end());
      const auto found = interval.pair(diamonds[p->second]);
      if (found) finish(*p, *found, [&] { return *sampling.pair(diamonds[p->second]); });
    }
  });
}

}  // namespace hifi
