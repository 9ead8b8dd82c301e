// From a vocabulary of losses to the profile: U, R, S, pi, Lmax, last and gain quantiles for each
// player, S and R for each pair. Plug-in values only (`value` = `plugin`); intervals come later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/parallel.h"
#include "decomposition/seen_lattice.h"
#include "hifi/coalition.h"
#include "hifi/profile.h"

namespace hifi {

struct PairSelection {
  enum class Kind { all, top, with, none };
  Kind kind = Kind::all;
  std::size_t top = 0;     // kind top: how many, by largest max(S, R)
  std::uint32_t with = 0;  // kind with: the player
};

struct ScanOptions {
  // Contexts within this share of max|L| of the extremum tie; the smallest of them is reported.
  double tie_tolerance = 1e-9;
  PairSelection pairs;
};

struct ScanResult {
  std::vector<FeatureProfile> features;
  std::vector<PairProfile> pairs;  // (0,1), (0,2), .. by position, those selected
};

// A complete lattice: losses[mask], bit i of mask = player i.
// REQUIRES: losses.size() == 2^players, players <= 30, all finite
ScanResult scan_dense(std::size_t players, std::span<const double> losses, const ScanOptions& options,
                      Workers& workers);

// Gains and mixed differences of cells, by their places in the list that the lattice was given. Absent where
// the cells have nothing in common that could be compared.
class CellValues {
 public:
  virtual ~CellValues() = default;
  virtual std::optional<double> gain(std::uint32_t context, std::uint32_t with) const = 0;
  virtual std::optional<double> mixed(std::uint32_t c, std::uint32_t i, std::uint32_t j,
                                      std::uint32_t both) const = 0;
  virtual double scale() const = 0;  // max |L|
};

// Extremes are over the contexts seen; what needs a coalition that was not seen is absent.
ScanResult scan_sparse(const SeenLattice& lattice, const CellValues& values, const ScanOptions& options,
                       Workers& workers);
// Losses of cells that can all be compared.
ScanResult scan_sparse(const SeenLattice& lattice, std::span<const double> losses, const ScanOptions& options,
                       Workers& workers);

using LossMap = std::unordered_map<Coalition, double, CoalitionHash>;

ScanResult scan_sparse(std::size_t players, const LossMap& losses, const ScanOptions& options,
                       Workers& workers);

}  // namespace hifi
