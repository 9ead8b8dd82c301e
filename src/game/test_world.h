// A random table, a model, a loss and players, and the losses as plainly as they can be computed.
#pragma once

#include <cmath>
#include <memory>

#include "core/random.h"
#include "game/table_game.h"
#include "model/test_model.h"

namespace hifi {

struct TestWorld {
  Frame data;
  Frame background;
  std::vector<double> truth;
  Players players;
  std::unique_ptr<TestModel> model;
  std::unique_ptr<Loss> loss;

  // `width` columns; the players own all but the last `fixed` of them, some of them two. Few distinct values,
  // so that rows repeat; some are missing.
  TestWorld(std::uint64_t seed, std::size_t rows, std::size_t background_rows, std::size_t player_count,
            std::size_t fixed = 0, bool groups = false) {
    RandomStream random(seed, Purpose::probe);
    std::size_t width = 0;
    for (std::size_t i = 0; i < player_count; ++i) {
      players.names.push_back("p" + std::to_string(i));
      players.columns.push_back({static_cast<std::uint32_t>(width++)});
      if (groups && i % 2 == 1) players.columns.back().push_back(static_cast<std::uint32_t>(width++));
    }
    width += fixed;
    const auto frame = [&](std::size_t count) {
      Frame f{.rows = count, .width = width, .values = std::vector<double>(count * width)};
      for (double& v : f.values) {
        const std::uint64_t k = random.below(4);
        v = k == 3 ? std::nan("") : static_cast<double>(k);
      }
      return f;
    };
    data = frame(rows);
    background = frame(background_rows);
    for (std::size_t r = 0; r < rows; ++r) truth.push_back(random.uniform());
    std::vector<double> weight(width + 1);
    for (double& w : weight) w = random.uniform();
    model = std::make_unique<TestModel>(width, [weight](std::span<const double> row) {
      double sum = weight.back();
      for (std::size_t c = 0; c < row.size(); ++c) {
        sum += weight[c] * (std::isnan(row[c]) ? -1 : row[c]) * (c > 0 && row[c - 1] > 1 ? 3 : 1);
      }
      return std::sin(sum);
    });
    loss = std::make_unique<Loss>(LossOptions{.kind = LossKind::squared}, std::as_const(*model).info());
  }

  TableGame game(std::size_t batch) const { return {*model, *loss, players, data, truth, background, batch}; }

  double reference(const Coalition& coalition, const Draw& draw) const {
    std::vector<double> row(data.row(draw.instance).begin(), data.row(draw.instance).end());
    for (std::size_t i = 0; i < players.size(); ++i) {
      if (coalition.contains(i)) continue;
      for (const std::uint32_t c : players.columns[i]) row[c] = background.row(draw.background)[c];
    }
    double p = 0;
    model->evaluate(row, {&p, 1});
    const double y = truth[draw.instance];
    return (p - y) * (p - y);
  }
};

inline std::vector<Draw> all_draws(const DrawPlan& plan) {
  std::vector<Draw> all;
  for (std::size_t b = 0; b < plan.instance_blocks(); ++b) {
    const std::size_t before = all.size();
    all.resize(before + plan.block_draws(b));
    plan.fill(b, 0, std::span(all).subspan(before));
  }
  return all;
}

}  // namespace hifi
