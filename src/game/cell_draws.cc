#include "game/cell_draws.h"

#include <numeric>
#include <unordered_map>

#include "core/random.h"

namespace hifi {

namespace {

constexpr std::size_t kFewest = 40;  // units of a side that is split: 20 blocks for either part

std::vector<std::uint32_t> all_rows(std::size_t count) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

// Units take turns in a random order, so that files sorted by anything are split evenly.
std::array<std::vector<std::uint32_t>, 2> halves(const std::vector<std::uint32_t>& unit_of_row,
                                                 std::uint64_t seed, Purpose purpose) {
  const std::size_t rows = unit_of_row.size();
  std::unordered_map<std::uint32_t, std::uint32_t> half;
  for (const std::uint32_t row : RandomStream(seed, purpose).permutation(rows)) {
    half.emplace(unit_of_row[row], static_cast<std::uint32_t>(half.size() % 2));
  }
  std::array<std::vector<std::uint32_t>, 2> result;
  if (half.size() < kFewest) {
    result.fill(all_rows(rows));
    return result;
  }
  for (std::uint32_t row = 0; row < rows; ++row) result[half.at(unit_of_row[row])].push_back(row);
  return result;
}

}  // namespace

std::array<RowPart, 2> split_rows(const DrawOptions& options, bool background_fixed) {
  const auto instances = halves(options.clusters.empty() ? all_rows(options.instances) : options.clusters,
                                options.seed, Purpose::instance_order);
  auto background = instances;
  if (!options.background_is_data) {
    const auto rows = all_rows(options.background_rows);
    background =
        background_fixed ? std::array{rows, rows} : halves(rows, options.seed, Purpose::background_order);
  }
  return {RowPart{instances[0], background[0]}, RowPart{instances[1], background[1]}};
}

bool is_split(const std::array<RowPart, 2>& parts) {
  return parts[0].instances != parts[1].instances || parts[0].background != parts[1].background;
}

CellDraws make_cell_draws(const DrawOptions& options, const RowPart& part) {
  DrawOptions own = options;
  own.instances = part.instances.size();
  own.background_rows = part.background.size();
  own.clusters.clear();
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;  // clusters of the part, from 0
  for (const std::uint32_t row : part.instances) {
    if (options.clusters.empty()) break;
    own.clusters.push_back(
        numbers.emplace(options.clusters[row], static_cast<std::uint32_t>(numbers.size())).first->second);
  }
  const DrawPlan plan(own);
  CellDraws result{.instance_blocks = plan.instance_blocks(),
                   .background_blocks = plan.background_blocks(),
                   .round_blocks = plan.round_blocks(),
                   .weights = plan.weights(),
                   .all_pairs = plan.exact(),
                   .all_distinct = plan.all_distinct()};
  for (std::size_t b = 0; b < plan.instance_blocks(); ++b) {
    const std::size_t first = result.draws.size();
    result.draws.resize(first + plan.block_draws(b));
    result.instance_block.resize(result.draws.size(), static_cast<std::uint32_t>(b));
    plan.fill(b, 0, std::span(result.draws).subspan(first));
  }
  for (Draw& draw : result.draws) {
    draw.instance = part.instances[draw.instance];
    draw.background = part.background[draw.background];
  }
  return result;
}

}  // namespace hifi
