// The loss of the mean prediction over the background (the estimand of SAGE, Covert, Lundberg, Lee 2020),
// where the table game has the mean of the losses. A draw is an instance; the background is averaged over
// within it.
#pragma once

#include <cstdint>
#include <vector>

#include "game/game.h"
#include "game/model_clock.h"
#include "loss/loss.h"
#include "masking/frame.h"
#include "masking/players.h"
#include "model/model.h"

namespace hifi {

class ExpectedGame : public Game {
 public:
  struct Parts {
    const Model& model;
    const Loss& loss;
    const Players& players;
    const Frame& instances;
    const std::vector<double>& truth;
    const Frame& background;
  };
  // All references must outlive the game. `rows` are those of the background that are averaged over: all, or
  // a sample. A sample inflates squared loss by the variance of its mean, which is taken off again; other
  // losses keep a bias.
  ExpectedGame(const Parts& parts, std::vector<std::uint32_t> rows, std::size_t batch_rows);

  std::size_t players() const override { return parts_.players.size(); }
  void losses(const CoalitionList& coalitions, std::span<const Draw> draws, std::span<double> out,
              Workers& workers) override;
  ModelUse model_use() const override { return clock_.use(); }

 protected:
  const Parts& parts() const { return parts_; }
  const std::vector<std::uint32_t>& rows() const { return rows_; }
  // Squared loss is above that of the whole background by the variance of a mean over a sample of it, which
  // is this share of the sample's variance; 0 where nothing is taken off.
  double sample_share() const;

 private:
  void run(const CoalitionList& coalitions, std::span<const Draw> draws, std::size_t begin,
           std::span<double> out);
  double evaluate(std::span<const double> predictions, double truth) const;

  Parts parts_;
  std::vector<std::uint32_t> rows_;
  std::size_t batch_rows_;
  ModelClock clock_;
};

}  // namespace hifi
