#include "audit/indices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_set>

#include "decomposition/noise.h"
#include "hifi/error.h"
#include "indices/indices.h"
#include "indices/union_sums.h"
#include "stats/student.h"

namespace hifi {

namespace {

// What a zero error can hide under a bounded loss, as for gains: see decomposition/inference.
struct Floor {
  double loss_range = 0;  // 0: unbounded, nothing can be said
  double reach = 0;
};

void check(const std::vector<std::string>& players, const IndicesRequest& request) {
  if (request.order > players.size()) {
    throw input_error(fmt::format("--order {}: there are only {} players", request.order, players.size()));
  }
  constexpr double kBytesPerValue = 8 + 2 * sizeof(std::optional<double>) + 160;  // with its text
  double values = 0;
  for (const IndexKind kind : request.kinds) {
    const std::size_t order = kind == IndexKind::shapley ? 1 : request.order;
    double sets = 1;
    for (std::size_t s = 1; s <= order; ++s) {
      sets *= static_cast<double>(players.size() - s + 1) / static_cast<double>(s);
      values += sets;
    }
  }
  const double bytes = values * kBytesPerValue;
  if (bytes > static_cast<double>(request.max_memory)) {
    throw input_error(
        fmt::format("--order {}: {:.3g} values would take {:.1f} GB", request.order, values, bytes / 1e9),
        "lower --order, name fewer indices, or raise --max-memory");
  }
}

// Ends from squared errors. A value that is 0 without any noise belongs to players that changed nothing.
void set_ends(Index& index, const IndexWeights& weights, const std::vector<double>& squares,
              const Noise& noise, double alpha, const Floor& floor) {
  const double t = t_quantile(1 - alpha / 2, noise.rows.degrees_of_freedom());
  const double rounding = 1e-6 * noise.scale;  // influences are floats
  std::size_t size = 1;
  std::size_t end = sets_of_size(weights.players, 1);
  for (std::size_t v = 0; v < squares.size(); ++v) {
    if (v == end) end += sets_of_size(weights.players, ++size);
    double half = t * std::sqrt(squares[v]);
    if (half <= t * rounding) {
      if (index.value[v] == 0) {
        half = 0;
      } else if (floor.loss_range > 0) {
        half = floor.loss_range * floor.reach * weights.absolute_sum(size) / 2;
      } else {
        continue;
      }
    }
    index.low[v] = index.value[v] - half;
    index.high[v] = index.value[v] + half;
  }
}

Indices evaluate(const std::vector<std::string>& players, const IndexSet& set,
                 const std::vector<IndexKind>& kinds, std::span<const double> losses) {
  Indices result{.players = players};
  IndexSet::Values values = set.evaluate(losses);
  for (std::size_t k = 0; k < set.size(); ++k) {
    const std::size_t count = values[k].size();
    result.indices.push_back({.name = index_name(kinds[k]),
                              .order = set.weights(k).order,
                              .value = std::move(values[k]),
                              .low = std::vector<std::optional<double>>(count),
                              .high = std::vector<std::optional<double>>(count)});
  }
  return result;
}

void add_intervals(Indices& result, const IndexSet& set, const Noise& noise, double alpha, const Floor& floor,
                   Workers& workers) {
  if (noise.kind == Noise::Kind::absent) return;
  if (noise.kind == Noise::Kind::none) {
    for (Index& index : result.indices) {
      index.low.assign(index.value.begin(), index.value.end());
      index.high = index.low;
    }
    return;
  }
  const auto row = [&](std::size_t r) {
    std::vector<double> influence(std::size_t{1} << result.players.size());
    for (std::size_t mask = 0; mask < influence.size(); ++mask)
      influence[mask] = noise.unit * static_cast<double>(noise.of(mask)[r]);
    return influence;
  };
  const IndexSet::Values squares = noise.kind == Noise::Kind::cells
                                       ? set.squared_errors(noise.variance)
                                       : set.squared_errors(noise.rows.rows(), row, workers);
  for (std::size_t k = 0; k < set.size(); ++k)
    set_ends(result.indices[k], set.weights(k), squares[k], noise, alpha, floor);
}

}  // namespace

Coalition first_missing(std::size_t players, const std::vector<Coalition>& coalitions) {
  const std::unordered_set<Coalition, CoalitionHash> seen(coalitions.begin(), coalitions.end());
  for (std::size_t size = 0; size <= players; ++size) {
    std::vector<std::size_t> members(size);
    std::iota(members.begin(), members.end(), std::size_t{0});
    for (bool more = true; more;) {
      Coalition coalition(players);
      for (const std::size_t i : members) coalition.insert(i);
      if (!seen.contains(coalition)) return coalition;
      more = false;  // the next set of this size, by position
      for (std::size_t k = size; k-- > 0 && !more;) {
        if (members[k] == players - size + k) continue;
        std::iota(members.begin() + static_cast<std::ptrdiff_t>(k), members.end(), members[k] + 1);
        more = true;
      }
    }
  }
  throw Error(ErrorCode::bug, "no coalition is missing");
}

namespace {

[[noreturn]] void refuse_partial(const std::string& path, const std::vector<std::string>& players,
                                 const std::vector<Coalition>& coalitions) {
  const Coalition missing = first_missing(players.size(), coalitions);
  std::vector<std::string> names;
  for (const std::uint32_t i : missing.members()) names.push_back(players[i]);
  throw input_error(
      fmt::format("{}: coalition {} ({{{}}}) is missing: {} of 2^{} are there", path, missing.to_string(),
                  fmt::join(names, ", "), coalitions.size(), players.size()),
      "indices need them all; `hifi decompose` takes partial vocabularies");
}

// The mean of all visits of each coalition; of its noise nothing is said.
LossTable table_of_visits(const RunPlan& plan, const std::vector<Visit>& visits) {
  struct Mean {
    double sum = 0;
    double count = 0;
  };
  std::map<Coalition, Mean> means;
  for (const Visit& visit : visits) {
    if (visit.is_side()) continue;
    Mean& mean = means[visit.coalition];
    for (const double x : visit.slices) mean.sum += x;
    mean.count += static_cast<double>(visit.slices.size());
  }
  LossTable table{.players = plan.players};
  for (const auto& [coalition, mean] : means) {
    table.coalitions.push_back(coalition);
    table.losses.push_back(mean.sum / mean.count);
  }
  return table;
}

}  // namespace

Indices make_indices(const RunPlan& plan, const RunResult& run, const std::string& path,
                     const IndicesRequest& request, Workers& workers) {
  if (run.searched) refuse_partial(path, plan.players, run.searched->coalitions);
  if (run.paper) return make_indices(table_of_visits(plan, run.paper->visits), path, request, workers);
  check(plan.players, request);
  const Lattice& lattice = run.lattice;
  const IndexSet set(request.kinds, plan.players.size(), request.order);
  const std::vector<double> losses = lattice.means();
  Indices result = evaluate(plan.players, set, request.kinds, losses);
  result.interval = plan.interval == "population" ? "population" : "montecarlo";
  result.confidence = plan.confidence;
  const Noise noise = plan.interval == "population" ? population_noise(lattice, losses, plan)
                                                    : montecarlo_noise(lattice, losses, plan);
  Floor floor;
  if (plan.loss_range) {
    const double alpha = plan.alpha();
    floor = {.loss_range = *plan.loss_range,
             .reach = plan.loss == "zero-one"
                          ? -std::log(alpha) / noise.units
                          : 7 * std::log(2 / alpha) / (3 * std::max(1.0, noise.units - 1))};
  }
  add_intervals(result, set, noise, plan.alpha(), floor, workers);
  return result;
}

Indices make_indices(const LossTable& table, const std::string& path, const IndicesRequest& request,
                     Workers& workers) {
  const std::size_t n = table.players.size();
  if (!table.complete()) refuse_partial(path, table.players, table.coalitions);
  check(table.players, request);
  const auto by_mask = [&](const std::vector<double>& values) {
    std::vector<double> sorted(values.size());
    for (std::size_t k = 0; k < values.size(); ++k) sorted[table.coalitions[k].mask()] = values[k];
    return sorted;
  };
  const IndexSet set(request.kinds, n, request.order);
  Indices result = evaluate(table.players, set, request.kinds, by_mask(table.losses));
  if (!table.has_noise()) return result;
  result.interval = "montecarlo";
  add_intervals(result, set, cell_noise(by_mask(table.draws), by_mask(table.variances)),
                1 - result.confidence, {}, workers);
  return result;
}

}  // namespace hifi
