// Interaction indices: the signed scores of sets of players that the literature knows. Plain data.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace hifi {

// One index up to its order. Values are listed by size of the set, then by position: {1}, {2}, .., {1,2},
// {1,3}, ..; {} is not listed. An interval that cannot be given is absent.
struct Index {
  std::string name;
  std::size_t order = 0;
  std::vector<double> value;
  std::vector<std::optional<double>> low, high;
};

struct Indices {
  std::vector<std::string> players;
  std::vector<Index> indices;
  std::optional<std::string> interval;  // population or montecarlo; absent for a bare table
  double confidence = 0.95;
};

}  // namespace hifi
