// The game of a model on a table: x on the coalition, z off it, loss against the truth of x.
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

class TableGame : public Game {
 public:
  // All references must outlive the game. `batch_rows` evaluations make one task and at most one call of
  // the model; it is part of the plan, because some backends round differently for other batch shapes.
  TableGame(const Model& model, const Loss& loss, const Players& players, const Frame& instances,
            const std::vector<double>& truth, const Frame& background, std::size_t batch_rows);

  std::size_t players() const override { return players_.size(); }
  void losses(const CoalitionList& coalitions, std::span<const Draw> draws, std::span<double> out,
              Workers& workers) override;

  // Identical masked rows of a task are sent once.
  ModelUse model_use() const override { return clock_.use(); }

 private:
  struct Task;
  void run(const CoalitionList& coalitions, std::span<const Draw> draws, std::size_t begin,
           std::span<double> out);
  void find_distinct(const CoalitionList& coalitions, const Draw& draw, std::size_t first, std::size_t count,
                     Task& task) const;
  void fill_sublattice(const Draw& draw, std::uint64_t mask, std::size_t count, Task& task) const;
  void add_row(const CoalitionList& coalitions, const Draw& draw, std::size_t index, bool next,
               Task& task) const;
  template <class Contains>
  void write_row(const Draw& draw, Contains contains, double* row) const;

  const Model& model_;
  const Loss& loss_;
  const Players& players_;
  const Frame& instances_;
  const std::vector<double>& truth_;
  const Frame& background_;
  std::size_t batch_rows_;
  std::vector<std::uint32_t> fixed_columns_;  // of no player: always from the instance
  ModelClock clock_;
};

}  // namespace hifi
