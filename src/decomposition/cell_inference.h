// Intervals and corrected values over the contexts seen, when not all coalitions were evaluated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "decomposition/inference.h"
#include "decomposition/scan.h"
#include "decomposition/seen_lattice.h"

namespace hifi {

// A linear combination of two or four cells: L(C) - L(C+i), or L(C+i) + L(C+j) - L(C+ij) - L(C).
struct Corners {
  std::array<std::uint32_t, 4> cell{};
  std::size_t count = 2;

  static Corners gain(std::uint32_t context, std::uint32_t with) { return {{context, with}, 2}; }
  static Corners diamond(std::uint32_t c, std::uint32_t i, std::uint32_t j, std::uint32_t both) {
    return {{i, j, both, c}, 4};
  }
  double sign(std::size_t k) const { return k < count / 2 ? 1 : -1; }
};

// Where the numbers of cells come from, under one kind of noise. Cells are places in the list of coalitions.
class CellNumbers {
 public:
  struct Number {
    double value = 0;
    double error = 0;  // standard error
  };
  virtual ~CellNumbers() = default;

  virtual Noise::Kind kind() const = 0;
  virtual BlockRows rows() const = 0;
  virtual double units() const = 0;  // independent observations of a cell
  // Absent if the cells share no draws.
  virtual std::optional<Number> number(const Corners& corners) const = 0;
  // Of the difference of two numbers.
  virtual Number difference(const Corners& a, const Corners& b) const = 0;
  // Kind blocks: adds factor x influence of the combination, one number per row.
  virtual void add_influence(const Corners& corners, double factor, std::span<double> out) const = 0;
};

// Cells that all saw the same draws.
class SharedDraws : public CellNumbers {
 public:
  // Both must outlive this.
  SharedDraws(std::span<const double> losses, const Noise& noise) : losses_(losses), noise_(noise) {}

  Noise::Kind kind() const override { return noise_.kind; }
  BlockRows rows() const override { return noise_.rows; }
  double units() const override { return noise_.units; }
  std::optional<Number> number(const Corners& corners) const override;
  Number difference(const Corners& a, const Corners& b) const override;
  void add_influence(const Corners& corners, double factor, std::span<double> out) const override;

 private:
  double value(const Corners& corners) const;
  double error(const Corners& a, const Corners* b) const;

  std::span<const double> losses_;
  const Noise& noise_;
};

// Diamonds of a pair whose cells are in no lattice, by (first, second).
using SideDiamonds = std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Corners>>;

// Fills value, low, high and population of a scan of the same cells, in place. Ends that the contexts not
// seen could move are filled too: what is to be said of them is the caller's business.
void infer_cells(ScanResult& scan, const SeenLattice& lattice, const CellNumbers& interval,
                 const CellNumbers& sampling, const InferenceOptions& options, Workers& workers,
                 const SideDiamonds& side = {});

}  // namespace hifi
