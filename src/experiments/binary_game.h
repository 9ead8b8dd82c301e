// A predictor on bits whose masked losses can be enumerated: the proving ground of the theorems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "game/game.h"

namespace hifi {

using Bits = std::uint32_t;  // bit i = player i

struct BinaryModel {
  std::size_t players = 0;
  std::function<double(Bits)> predict;  // the truth of an instance is its prediction: an oracle
  double one = 0.5;                     // probability of a 1 in the background, independent by player

  double probability(Bits background) const;
  // Squared loss of x with the players outside of S taken from the background.
  double loss(Bits coalition, Bits x, Bits background) const;
  double prediction(Bits coalition, Bits x, Bits background) const;
  // Means over the background, of all coalitions: losses of one instance; minus its predictions, which is the
  // loss of the prediction game.
  std::vector<double> losses(Bits x) const;
  std::vector<double> prediction_losses(Bits x) const;
};

// XOR of the first three of four players; the fourth is a spectator.
BinaryModel parity_model(double one = 0.5);
// The sum of four bits.
BinaryModel sum_model(double one = 0.5);

// The model on given instances and background rows, for the estimators that need a Game.
class BinaryGame : public Game {
 public:
  BinaryGame(BinaryModel model, std::vector<Bits> instances, std::vector<Bits> background)
      : model_(std::move(model)), instances_(std::move(instances)), background_(std::move(background)) {}

  std::size_t players() const override { return model_.players; }
  void losses(const CoalitionList& coalitions, std::span<const Draw> draws, std::span<double> out,
              Workers& workers) override;

 private:
  BinaryModel model_;
  std::vector<Bits> instances_;
  std::vector<Bits> background_;
};

}  // namespace hifi
