// The numbers of a vocabulary whose coalitions were visited on ranges of draws of their own: differences are
// taken on the ranges that all corners share, and their noise comes from the slices of those. Ranges that
// wrap around are the same draws again: they can be compared, and count once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomposition/cell_inference.h"
#include "decomposition/scan.h"
#include "vocabulary/visits.h"

namespace hifi {

class RangedDraws : public CellNumbers, public CellValues {
 public:
  // `visits` must outlive this.
  RangedDraws(std::span<const Visit> visits, const RunPlan& plan);

  // Cells of the lattice, in the order of their first visit; side cells have the places behind them.
  const std::vector<Coalition>& coalitions() const { return coalitions_; }
  const std::vector<double>& means() const { return means_; }
  std::uint64_t fewest_draws() const { return fewest_draws_; }
  // Corners that were drawn apart for one pair, one diamond per context.
  const SideDiamonds& side_diamonds() const { return side_; }
  // The context of one of them. REQUIRES: `corners` is a side diamond
  const Coalition& side_context(const Corners& corners) const {
    return side_coalitions_[corners.cell[3] - coalitions_.size()];
  }

  Noise::Kind kind() const override { return kind_; }
  BlockRows rows() const override { return {.parts = {slices_}}; }
  double units() const override { return static_cast<double>(fewest_draws_); }
  std::optional<Number> number(const Corners& corners) const override;
  Number difference(const Corners& a, const Corners& b) const override;
  void add_influence(const Corners&, double, std::span<double>) const override {
  }  // each has noise of its own

  std::optional<double> gain(std::uint32_t context, std::uint32_t with) const override;
  std::optional<double> mixed(std::uint32_t c, std::uint32_t i, std::uint32_t j,
                              std::uint32_t both) const override;
  double scale() const override;

 private:
  struct Range {
    std::uint64_t range;
    const std::vector<double>* slices;
  };
  using Cell = std::vector<Range>;  // by range, each once

  void take_visits(std::span<const Visit> visits);
  void take_side_visits(std::span<const Visit> visits);
  void add(std::uint32_t cell, const Visit& visit);
  Number from_shared(const Corners& corners, std::span<const std::uint64_t> ranges) const;
  Number apart(const Corners& corners) const;
  bool is_side(const Corners& corners) const { return corners.cell[0] >= coalitions_.size(); }

  std::vector<Coalition> coalitions_;
  std::vector<Coalition> side_coalitions_;
  std::vector<Cell> cells_;
  std::vector<double> means_;
  SideDiamonds side_;
  Noise::Kind kind_;
  std::size_t slices_;
  std::uint64_t ranges_;  // different ones: those beyond wrap around
  std::uint64_t fewest_draws_ = 0;
};

}  // namespace hifi
