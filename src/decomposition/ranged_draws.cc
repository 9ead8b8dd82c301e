#include "decomposition/ranged_draws.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace hifi {

namespace {

// Mean and standard error of equally weighted parts.
class Units {
 public:
  void add(double x) {
    ++count_;
    const double step = x - mean_;
    mean_ += step / count_;
    squares_ += step * (x - mean_);
  }
  CellNumbers::Number number() const {
    return {mean_, count_ > 1 ? std::sqrt(squares_ / (count_ - 1) / count_) : 0};
  }

 private:
  double count_ = 0, mean_ = 0, squares_ = 0;
};

}  // namespace

RangedDraws::RangedDraws(std::span<const Visit> visits, const RunPlan& plan)
    : kind_(plan.exact              ? Noise::Kind::none
            : plan.paper.slices > 1 ? Noise::Kind::cells
                                    : Noise::Kind::absent),
      slices_(plan.paper.slices),
      ranges_(plan.paper.ranges) {
  take_visits(visits);
  take_side_visits(visits);
  std::size_t fewest = SIZE_MAX;
  for (std::size_t c = 0; c < coalitions_.size(); ++c) {
    fewest = std::min(fewest, cells_[c].size());
    means_.push_back(apart({.cell = {static_cast<std::uint32_t>(c)}, .count = 1}).value);
  }
  fewest_draws_ = coalitions_.empty() ? 0 : plan.paper.range_draws * fewest;
}

void RangedDraws::add(std::uint32_t cell, const Visit& visit) {
  const std::uint64_t range = visit.range % ranges_;
  Cell& list = cells_[cell];
  const auto at = std::lower_bound(list.begin(), list.end(), range,
                                   [](const Range& r, std::uint64_t value) { return r.range < value; });
  if (at == list.end() || at->range != range) list.insert(at, {range, &visit.slices});
}

void RangedDraws::take_visits(std::span<const Visit> visits) {
  std::unordered_map<Coalition, std::uint32_t, CoalitionHash> places;
  for (const Visit& visit : visits) {
    if (visit.is_side()) continue;
    const auto [at, is_new] = places.emplace(visit.coalition, static_cast<std::uint32_t>(cells_.size()));
    if (is_new) {
      coalitions_.push_back(visit.coalition);
      cells_.emplace_back();
    }
    add(at->second, visit);
  }
}

// Four in a row make a diamond: C, C+i, C+j, C+ij. A context that is drawn again has one more range.
void RangedDraws::take_side_visits(std::span<const Visit> visits) {
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  std::map<Pair, std::unordered_map<Coalition, std::uint32_t, CoalitionHash>> places;
  for (std::size_t k = 0; k < visits.size(); ++k) {
    if (!visits[k].is_side()) continue;
    const Pair pair(visits[k].first, visits[k].second);
    const auto [at, is_new] =
        places[pair].emplace(visits[k].coalition, static_cast<std::uint32_t>(cells_.size()));
    const std::uint32_t first = at->second;
    if (is_new) {
      side_[pair].push_back(Corners::diamond(first, first + 1, first + 2, first + 3));
      for (std::size_t corner = 0; corner < 4; ++corner)
        side_coalitions_.push_back(visits[k + corner].coalition);
      cells_.resize(cells_.size() + 4);
    }
    for (std::uint32_t corner = 0; corner < 4; ++corner) add(first + corner, visits[k + corner]);
    k += 3;
  }
}

CellNumbers::Number RangedDraws::apart(const Corners& corners) const {
  Number result;
  double variance = 0;
  for (std::size_t k = 0; k < corners.count; ++k) {
    Units units;
    for (const Range& range : cells_[corners.cell[k]]) {
      for (const double x : *range.slices) units.add(x);
    }
    const Number number = units.number();
    result.value += corners.count == 1 ? number.value : corners.sign(k) * number.value;
    variance += number.error * number.error;
  }
  result.error = std::sqrt(variance);
  return result;
}

CellNumbers::Number RangedDraws::from_shared(const Corners& corners,
                                             std::span<const std::uint64_t> ranges) const {
  Units units;
  std::array<Cell::const_iterator, 4> at;
  for (std::size_t k = 0; k < corners.count; ++k) at[k] = cells_[corners.cell[k]].begin();
  for (const std::uint64_t range : ranges) {
    for (std::size_t k = 0; k < corners.count; ++k) {
      while (at[k]->range != range) ++at[k];
    }
    const auto loss = [&](std::size_t k, std::size_t slice) { return (*at[k]->slices)[slice]; };
    for (std::size_t s = 0; s < slices_; ++s) {
      // As gain minus gain: a player that changes no loss gets an exact 0.
      units.add(corners.count == 2 ? loss(0, s) - loss(1, s)
                                   : (loss(1, s) - loss(2, s)) - (loss(3, s) - loss(0, s)));
    }
  }
  return units.number();
}

std::optional<CellNumbers::Number> RangedDraws::number(const Corners& corners) const {
  if (is_side(corners)) return apart(corners);
  std::vector<std::uint64_t> shared;
  for (const Range& range : cells_[corners.cell[0]]) shared.push_back(range.range);
  for (std::size_t k = 1; k < corners.count; ++k) {
    std::vector<std::uint64_t> both;
    const Cell& cell = cells_[corners.cell[k]];
    auto at = cell.begin();
    for (const std::uint64_t range : shared) {
      while (at != cell.end() && at->range < range) ++at;
      if (at != cell.end() && at->range == range) both.push_back(range);
    }
    shared = std::move(both);
  }
  if (shared.empty()) return std::nullopt;
  return from_shared(corners, shared);
}

CellNumbers::Number RangedDraws::difference(const Corners& a, const Corners& b) const {
  const Number first = number(a).value();
  const Number second = number(b).value();
  return {first.value - second.value, std::hypot(first.error, second.error)};
}

std::optional<double> RangedDraws::gain(std::uint32_t context, std::uint32_t with) const {
  const auto found = number(Corners::gain(context, with));
  return found ? std::optional(found->value) : std::nullopt;
}

std::optional<double> RangedDraws::mixed(std::uint32_t c, std::uint32_t i, std::uint32_t j,
                                         std::uint32_t both) const {
  const auto found = number(Corners::diamond(c, i, j, both));
  return found ? std::optional(found->value) : std::nullopt;
}

double RangedDraws::scale() const {
  double largest = 0;
  for (const double mean : means_) largest = std::max(largest, std::abs(mean));
  return largest;
}

}  // namespace hifi
