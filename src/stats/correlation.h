// Correlations of two lists of numbers.
#pragma once

#include <optional>
#include <span>

namespace hifi {

struct Correlation {
  double value = 0;
  double p = 1;  // two-sided, against no correlation, by Student's t; 1 with fewer than 3 numbers
};

// Absent if a list is constant or has fewer than 2 numbers. REQUIRES: lists of one length
std::optional<Correlation> pearson(std::span<const double> x, std::span<const double> y);
// Pearson's of the ranks; ties share their mean rank.
std::optional<Correlation> spearman(std::span<const double> x, std::span<const double> y);

// The largest Spearman correlation that numbers without ties can have with this list. Against a truth of few
// levels it is far below 1: sqrt(1 - sum(t^3 - t) / (n^3 - n)). Absent if the list is constant.
std::optional<double> spearman_ceiling(std::span<const double> truth);

}  // namespace hifi
