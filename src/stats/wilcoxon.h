// Wilcoxon's signed-rank test on paired differences, and the shift that goes with it.
//
// Exact p-values are those of the permutation distribution given the ranks as they are, ties included: every
// difference keeps its size and takes either sign with probability 1/2. Wilcoxon 1945 (doi 10.2307/3001968);
// Hodges and Lehmann 1963 (doi 10.1214/aoms/1177704172).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace hifi {

enum class Alternative { two_sided, greater, less };

enum class Zeros {
  drop,   // Wilcoxon: leave them out before ranking
  pratt,  // rank them with the others, then leave them out (doi 10.2307/2282543)
};

enum class TestMethod {
  automatic,  // exact up to 50 differences
  exact,
  asymptotic,  // normal, variance corrected for ties, no continuity correction
};

struct WilcoxonOptions {
  Alternative alternative = Alternative::two_sided;
  Zeros zeros = Zeros::drop;
  TestMethod method = TestMethod::automatic;
};

struct WilcoxonResult {
  std::size_t used = 0;  // differences that are not 0
  double plus = 0;       // sum of the ranks of positive differences
  double minus = 0;
  bool exact = true;
  double p = 1;
};

// Absent if no difference is left: nothing can be said then. REQUIRES: finite differences
std::optional<WilcoxonResult> wilcoxon(std::span<const double> differences,
                                       const WilcoxonOptions& options = {});

struct Shift {
  double estimate = 0;  // median of the means of all pairs of differences, each with itself included
  // Differences that the two-sided test at 1 - confidence does not reject; absent if there are too few for it
  // to reject anything.
  std::optional<double> low, high;
};

// Absent without differences. Exact up to 50 differences, normal beyond. REQUIRES: 0 < confidence < 1
std::optional<Shift> hodges_lehmann(std::span<const double> differences, double confidence);

}  // namespace hifi
