#include "audit/loss_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

namespace hifi {

namespace {

constexpr std::size_t kSwappedRows = 256;  // all pairs of so many
constexpr double kHeavy = 0.25;            // share of the sum in the largest 1 %

nlohmann::ordered_json json_of(const LossQuantiles& q) {
  return {{"losses", q.losses}, {"min", q.min}, {"q05", q.q05}, {"q50", q.q50},
          {"q95", q.q95},       {"q99", q.q99}, {"max", q.max}};
}

}  // namespace

LossQuantiles summarise(std::vector<double> losses) {
  std::sort(losses.begin(), losses.end());
  const auto at = [&](double p) {  // linear interpolation
    const double place = p * static_cast<double>(losses.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const double above = losses[std::min(below + 1, losses.size() - 1)];
    return losses[below] + (place - std::floor(place)) * (above - losses[below]);
  };
  LossQuantiles q{.losses = losses.size(),
                  .min = losses.front(),
                  .q05 = at(0.05),
                  .q50 = at(0.5),
                  .q95 = at(0.95),
                  .q99 = at(0.99),
                  .max = losses.back()};
  const auto top = static_cast<std::ptrdiff_t>((losses.size() + 99) / 100);
  const double sum = std::accumulate(losses.begin(), losses.end(), 0.0);
  if (losses.front() >= 0 && sum > 0)
    q.top_share = std::accumulate(losses.end() - top, losses.end(), 0.0) / sum;
  return q;
}

LossSummary summarise_losses(const Loss& loss, std::span<const double> predictions,
                             std::span<const double> truth, bool swap) {
  const std::size_t count = predictions.size() / loss.outputs();
  LossSummary summary{.bound = loss.range()};
  std::vector<double> losses(count);
  for (std::size_t r = 0; r < count; ++r) {
    const auto row = static_cast<std::uint32_t>(r);
    loss.evaluate(predictions, {&row, 1}, truth[r], {&losses[r], 1});
  }
  summary.intact = summarise(losses);
  if (!swap || count < 2) return summary;
  const std::size_t rows = std::min(count, kSwappedRows);
  std::vector<std::uint32_t> row(rows);
  std::iota(row.begin(), row.end(), 0U);
  losses.resize(rows * rows);
  for (std::size_t r = 0; r < rows; ++r)
    loss.evaluate(predictions, row, truth[r], std::span(losses).subspan(r * rows, rows));
  summary.empty = summarise(losses);
  return summary;
}

std::string LossSummary::to_json() const {
  const nlohmann::ordered_json result = {{"bound", bound ? nlohmann::ordered_json(*bound) : nullptr},
                                         {"clipped", false},
                                         {"intact", json_of(intact)},
                                         {"empty", empty ? json_of(*empty) : nullptr}};
  return result.dump();
}

std::string heavy_tail(const LossSummary& summary, const std::string& loss) {
  const LossQuantiles& q = summary.empty.value_or(summary.intact);
  if (summary.bound || q.losses < 100 || q.top_share < kHeavy) return "";
  return fmt::format(
      "{} loss has no bound, and the largest 1 % of {} losses {} make up {:.0f} % of their sum (median "
      "{:.3g}, "
      "largest {:.3g}): means and intervals rest on few rows",
      loss, q.losses, summary.empty ? "with every column absent" : "of the intact model", 100 * q.top_share,
      q.q50, q.max);
}

}  // namespace hifi
