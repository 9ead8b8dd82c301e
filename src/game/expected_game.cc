#include "game/expected_game.h"

#include <algorithm>
#include <utility>

namespace hifi {

ExpectedGame::ExpectedGame(const Parts& parts, std::vector<std::uint32_t> rows, std::size_t batch_rows)
    : parts_(parts), rows_(std::move(rows)), batch_rows_(batch_rows) {}

void ExpectedGame::losses(const CoalitionList& coalitions, std::span<const Draw> draws, std::span<double> out,
                          Workers& workers) {
  const std::size_t cells = std::max<std::size_t>(1, batch_rows_ / rows_.size());  // of one call of the model
  workers.parallel_for((out.size() + cells - 1) / cells, [&](std::size_t t) {
    const std::size_t begin = t * cells;
    run(coalitions, draws, begin, out.subspan(begin, std::min(cells, out.size() - begin)));
  });
}

// One task: evaluations begin .. begin + out.size() - 1 of the (draw, coalition) matrix, all rows of each.
void ExpectedGame::run(const CoalitionList& coalitions, std::span<const Draw> draws, std::size_t begin,
                       std::span<double> out) {
  thread_local std::vector<double> rows, predictions;
  const std::size_t width = parts_.instances.width, outputs = parts_.loss.outputs();
  rows.resize(out.size() * rows_.size() * width);
  predictions.resize(out.size() * rows_.size() * outputs);
  const auto instance = [&](std::size_t e) { return draws[(begin + e) / coalitions.size()].instance; };
  double* row = rows.data();
  for (std::size_t e = 0; e < out.size(); ++e) {
    const auto x = parts_.instances.row(instance(e));
    for (const std::uint32_t r : rows_) {
      std::copy(x.begin(), x.end(), row);
      const auto z = parts_.background.row(r);
      for (std::size_t i = 0; i < players(); ++i) {
        if (coalitions.contains((begin + e) % coalitions.size(), i)) continue;
        for (const std::uint32_t c : parts_.players.columns[i]) row[c] = z[c];
      }
      row += width;
    }
  }
  const std::size_t all = out.size() * rows_.size();
  for (std::size_t first = 0; first < all; first += batch_rows_) {
    const std::size_t count = std::min(batch_rows_, all - first);
    clock_.predict(parts_.model, std::span(rows).subspan(first * width, count * width), count,
                   std::span(predictions).subspan(first * outputs, count * outputs));
  }
  clock_.add_evaluations(out.size());
  parts_.loss.check(predictions);
  const std::size_t cell = rows_.size() * outputs;
  for (std::size_t e = 0; e < out.size(); ++e) {
    out[e] = evaluate(std::span(predictions).subspan(e * cell, cell), parts_.truth[instance(e)]);
  }
}

double ExpectedGame::evaluate(std::span<const double> predictions, double truth) const {
  const std::size_t outputs = parts_.loss.outputs();
  const auto count = static_cast<double>(rows_.size());
  std::vector<double> mean(outputs, 0.0);
  for (std::size_t k = 0; k < predictions.size(); ++k) mean[k % outputs] += predictions[k];
  for (double& m : mean) m /= count;
  const std::uint32_t only = 0;
  double loss = 0;
  parts_.loss.evaluate(mean, std::span(&only, 1), truth, std::span(&loss, 1));
  const double share = sample_share();
  if (share == 0) return loss;
  double squares = 0;
  for (const double p : predictions) squares += (p - mean[0]) * (p - mean[0]);
  return loss - share * squares / (count - 1);
}

double ExpectedGame::sample_share() const {
  const auto count = static_cast<double>(rows_.size()), all = static_cast<double>(parts_.background.rows);
  const bool biased = parts_.loss.kind() == LossKind::squared && rows_.size() >= 2;
  return biased ? (1 - count / all) / count : 0;  // drawn without replacement
}

}  // namespace hifi
