#include "experiments/e3_paper.h"

namespace hifi {

namespace {

PaperCircuit ten_heads() {
  PaperCircuit circuit{.synergy_pairs = 35, .redundancy_pairs = 10};
  circuit.heads = {
      {"9.9", "Name-Mover", -0.271, 0.219, 0.586, -0.052},
      {"9.6", "Name-Mover", -1.214, 1.368, 0.038, 0.153},
      {"10.0", "Name-Mover", -0.245, 0.01, 1.018, -0.235},
      {"7.3", "S-Inhibition", 0.135, 0.087, 0.43, 0.222},
      {"7.9", "S-Inhibition", 0.366, 0.091, 0.673, 0.457},
      {"8.6", "S-Inhibition", 0.32, 0.147, 1.348, 0.467},
      {"8.10", "S-Inhibition", 0.274, 0.148, 0.848, 0.422},
      {"5.5", "Induction", 0.222, 0.148, 1.139, 0.369},
      {"3.0", "Duplicate-Token", 0.156, 0.164, 0.796, 0.32},
      {"4.11", "Previous-Token", -0.041, 0.021, 0.461, -0.02},
  };
  circuit.role_pairs = {
      {"Name-Mover", "Name-Mover", 3, 0.272, 0.165},
      {"Name-Mover", "S-Inhibition", 12, 0.203, 0.166},
      {"Induction", "Name-Mover", 3, 0.201, 0.203},
      {"Duplicate-Token", "Name-Mover", 3, 0.118, 0.149},
      {"Name-Mover", "Previous-Token", 3, 0.071, 0.086},
      {"S-Inhibition", "S-Inhibition", 6, 0.2, 0.039},
      {"Induction", "S-Inhibition", 4, 0.383, 0.003},
      {"Duplicate-Token", "S-Inhibition", 4, 0.266, 0},
      {"Previous-Token", "S-Inhibition", 4, 0.132, 0.003},
      {"Duplicate-Token", "Induction", 1, 0, 0.226},
      {"Induction", "Previous-Token", 1, 0.282, 0},
      {"Duplicate-Token", "Previous-Token", 1, 0.024, 0.067},
  };
  return circuit;
}

PaperCircuit all_heads() {
  PaperCircuit circuit{.synergy_pairs = 204, .redundancy_pairs = 121};
  circuit.heads = {
      {"9.9", "Name-Mover", -0.573, 0.048, 2.56, -0.525},
      {"9.6", "Name-Mover", -1.061, 0.763, 0.644, -0.299},
      {"10.0", "Name-Mover", -0.721, 0.105, 1.593, -0.616},
      {"7.3", "S-Inhibition", 0.083, 0.236, 0.97, 0.319},
      {"7.9", "S-Inhibition", 0.182, 0.127, 1.53, 0.309},
      {"8.6", "S-Inhibition", 0.016, 0, 2.568, 0.017},
      {"8.10", "S-Inhibition", 0.095, 0.593, 1.955, 0.688},
      {"5.5", "Induction", 0.037, 0.32, 3.016, 0.357},
      {"3.0", "Duplicate-Token", 0.122, 0.323, 1.28, 0.445},
      {"4.11", "Previous-Token", -0.056, 0.124, 0.983, 0.069},
      {"9.0", "Backup-Name-Mover", -0.084, 0.021, 0.097, -0.063},
      {"10.1", "Backup-Name-Mover", -0.219, 0.067, 0.258, -0.152},
      {"10.6", "Backup-Name-Mover", -0.172, 0.031, 0.654, -0.141},
      {"11.2", "Backup-Name-Mover", -0.538, 0.188, 0.759, -0.35},
      {"11.3", "Backup-Name-Mover", -0.104, 0.067, 0.052, -0.036},
      {"11.6", "Backup-Name-Mover", -0.393, 0.056, 0.522, -0.338},
      {"0.1", "Duplicate-Token", -1.304, 1.092, 0.278, -0.212},
      {"0.10", "Duplicate-Token", -0.085, 0.345, 0.878, 0.26},
      {"5.8", "Induction", -0.055, 0.16, 0.71, 0.105},
      {"5.9", "Induction", -0.555, 0.401, 1.544, -0.154},
      {"6.9", "Induction", 0.005, 0.1, 1.78, 0.105},
      {"10.10", "Name-Mover", -0.446, 0.078, 1.387, -0.368},
      {"10.7", "Negative-Name-Mover", -2.016, 3.068, 0.73, 1.052},
      {"11.10", "Negative-Name-Mover", -1.532, 2.701, 0.417, 1.169},
      {"2.2", "Previous-Token", -0.229, 0.226, 0.201, -0.003},
      {"5.6", "Previous-Token", -0.022, 0.035, 0.369, 0.013},
  };
  circuit.role_pairs = {
      {"Name-Mover", "Name-Mover", 6, 0.203, 0.236},
      {"Name-Mover", "S-Inhibition", 16, 0.419, 0.11},
      {"Induction", "Name-Mover", 16, 0.314, 0.124},
      {"Duplicate-Token", "Name-Mover", 12, 0.198, 0.136},
      {"Name-Mover", "Previous-Token", 12, 0.104, 0.04},
      {"S-Inhibition", "S-Inhibition", 6, 0.148, 0.158},
      {"Induction", "S-Inhibition", 16, 0.475, 0.045},
      {"Duplicate-Token", "S-Inhibition", 12, 0.204, 0.146},
      {"Previous-Token", "S-Inhibition", 12, 0.141, 0.029},
      {"Duplicate-Token", "Induction", 12, 0.198, 0.244},
      {"Induction", "Previous-Token", 12, 0.156, 0.06},
      {"Duplicate-Token", "Previous-Token", 9, 0.04, 0.074},
  };
  return circuit;
}

}  // namespace

const PaperCircuit& paper_ten_heads() {
  static const PaperCircuit circuit = ten_heads();
  return circuit;
}

const PaperCircuit& paper_all_heads() {
  static const PaperCircuit circuit = all_heads();
  return circuit;
}

}  // namespace hifi
