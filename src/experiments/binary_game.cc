#include "experiments/binary_game.h"

#include <bit>

namespace hifi {

double BinaryModel::probability(Bits background) const {
  double p = 1;
  for (std::size_t i = 0; i < players; ++i) p *= (background >> i) & 1U ? one : 1 - one;
  return p;
}

double BinaryModel::prediction(Bits coalition, Bits x, Bits background) const {
  return predict((x & coalition) | (background & ~coalition));
}

double BinaryModel::loss(Bits coalition, Bits x, Bits background) const {
  const double error = prediction(coalition, x, background) - predict(x);
  return error * error;
}

std::vector<double> BinaryModel::losses(Bits x) const {
  const Bits size = Bits{1} << players;
  std::vector<double> mean(size, 0.0);
  for (Bits s = 0; s < size; ++s)
    for (Bits z = 0; z < size; ++z) mean[s] += probability(z) * loss(s, x, z);
  return mean;
}

std::vector<double> BinaryModel::prediction_losses(Bits x) const {
  const Bits size = Bits{1} << players;
  std::vector<double> mean(size, 0.0);
  for (Bits s = 0; s < size; ++s)
    for (Bits z = 0; z < size; ++z) mean[s] -= probability(z) * prediction(s, x, z);
  return mean;
}

BinaryModel parity_model(double one) {
  return {4, [](Bits x) { return static_cast<double>(std::popcount(x & 0b111U) % 2); }, one};
}

BinaryModel sum_model(double one) {
  return {4, [](Bits x) { return static_cast<double>(std::popcount(x & 0b1111U)); }, one};
}

void BinaryGame::losses(const CoalitionList& coalitions, std::span<const Draw> draws, std::span<double> out,
                        Workers&) {
  for (std::size_t c = 0; c < coalitions.size(); ++c) {
    Bits coalition = 0;
    for (std::size_t i = 0; i < players(); ++i)
      coalition |= static_cast<Bits>(coalitions.contains(c, i)) << i;
    for (std::size_t d = 0; d < draws.size(); ++d) {
      out[d * coalitions.size() + c] =
          model_.loss(coalition, instances_[draws[d].instance], background_[draws[d].background]);
    }
  }
}

}  // namespace hifi
