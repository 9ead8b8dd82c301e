// Intervals from a radius of every loss: conservative bands by name, beside the intervals of inference.h.
//
// With probability 1 - alpha every loss lies within its radius (hoeffding, bernstein: all coalitions at
// once), so a gain lies within the sum of two radii and a mixed difference within the sum of four. With equal
// radii e that is the paper's propagation: 2e for U, Lmax, pi and last, 4e for R, S and pairs.
//
// They take the losses of a coalition as independent, which draws that share rows are not.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/parallel.h"
#include "decomposition/scan.h"

namespace hifi {

enum class Band {
  hoeffding,  // theorem 4 of the paper: Hoeffding and a union bound over the coalitions
  bernstein,  // the same with the empirical-Bernstein bound
  paper,      // the largest Student-t half-width of a coalition, each at full level: no union bound
};

std::optional<Band> parse_band(std::string_view interval);
// True for the bounds that hold for bounded losses only.
bool needs_bounded_loss(Band band);

struct BandInput {
  std::size_t players = 0;
  std::span<const double> losses;     // the means, by mask
  std::span<const double> variances;  // of single losses
  double draws = 0;                   // per coalition
  double alpha = 0.05;
  std::optional<double> loss_range;
};

// By mask. REQUIRES: draws >= 2, a loss range where it is needed
std::vector<double> band_radii(const BandInput& input, Band band);

// Puts low and high of every number of a complete scan.
void put_bands(ScanResult& scan, const BandInput& input, Band band, Workers& workers);

}  // namespace hifi
