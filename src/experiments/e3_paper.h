// Figures that the paper prints for E3, to stand beside ours.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hifi {

struct PaperHead {
  std::string head, role;
  double U, R, S, pi;
};
struct PaperRolePair {
  std::string first, second;
  std::size_t pairs;
  double S, R;
};
struct PaperCircuit {
  std::vector<PaperHead> heads;
  std::vector<PaperRolePair> role_pairs;
  std::size_t synergy_pairs = 0, redundancy_pairs = 0;  // with S - R above and below 0
};

const PaperCircuit& paper_ten_heads();
const PaperCircuit& paper_all_heads();  // 26

}  // namespace hifi
