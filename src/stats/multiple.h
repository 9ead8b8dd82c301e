// Several tests at once: adjusted p-values, in the order given.
#pragma once

#include <span>
#include <vector>

namespace hifi {

std::vector<double> bonferroni(std::span<const double> p);
// Holm 1979: as safe as Bonferroni and never larger.
std::vector<double> holm(std::span<const double> p);

}  // namespace hifi
