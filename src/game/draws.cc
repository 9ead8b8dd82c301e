#include "game/draws.h"

#include <algorithm>
#include <numeric>

#include "core/random.h"

namespace hifi {

namespace {

// Block of each instance: position in `order` modulo the number of blocks, or by cluster: clusters in
// random order, each to the block that has the fewest rows so far.
std::vector<std::uint32_t> assign_blocks(const DrawOptions& options, const std::vector<std::uint32_t>& order,
                                         std::size_t& blocks) {
  std::vector<std::uint32_t> block(order.size());
  if (options.clusters.empty()) {
    blocks = std::min<std::size_t>(options.blocks, std::min<std::uint64_t>(order.size(), options.draws));
    for (std::size_t p = 0; p < order.size(); ++p) block[order[p]] = static_cast<std::uint32_t>(p % blocks);
    return block;
  }
  const std::size_t count = 1 + *std::max_element(options.clusters.begin(), options.clusters.end());
  blocks = std::min<std::size_t>(options.blocks, std::min<std::uint64_t>(count, options.draws));
  std::vector<std::size_t> size(count);
  for (const std::uint32_t cluster : options.clusters) ++size[cluster];
  std::vector<std::uint32_t> home(count, UINT32_MAX);
  std::vector<std::size_t> filled(blocks);
  for (const std::uint32_t instance : order) {
    const std::uint32_t cluster = options.clusters[instance];
    if (home[cluster] == UINT32_MAX) {
      const auto least = std::min_element(filled.begin(), filled.end());
      *least += size[cluster];
      home[cluster] = static_cast<std::uint32_t>(least - filled.begin());
    }
    block[instance] = home[cluster];
  }
  return block;
}

}  // namespace

DrawPlan::DrawPlan(const DrawOptions& options) : options_(options) {
  const std::uint64_t all = static_cast<std::uint64_t>(options.instances) * options.background_rows;
  exact_ = options.draws == all;
  order_ = RandomStream(options.seed, Purpose::instance_order).permutation(options.instances);
  background_order_ =
      RandomStream(options.seed, Purpose::background_order).permutation(options.background_rows);
  offset_ = RandomStream(options.seed, Purpose::offsets).permutation(options.instances);

  std::size_t blocks = 0;
  const auto instance_block = assign_blocks(options, order_, blocks);
  positions_.resize(blocks);
  for (std::size_t p = 0; p < order_.size(); ++p) {
    positions_[instance_block[order_[p]]].push_back(static_cast<std::uint32_t>(p));
  }

  background_block_.resize(options.background_rows);
  if (options.background_is_data) {
    background_block_ = instance_block;
    background_rows_.resize(blocks);
  } else {
    background_rows_.resize(std::min(options.blocks, options.background_rows));
    for (std::size_t p = 0; p < background_order_.size(); ++p) {
      background_block_[background_order_[p]] = static_cast<std::uint32_t>(p % background_rows_.size());
    }
  }
  for (std::size_t z = 0; z < options.background_rows; ++z) {
    background_rows_[background_block_[z]].push_back(static_cast<std::uint32_t>(z));
  }

  rounds_ = (options.draws + options.instances - 1) / options.instances;
  if (!exact_) round_blocks_ = std::min<std::uint64_t>(options.blocks, by_rounds() ? rounds_ : options.draws);
}

std::size_t DrawPlan::block_of(std::size_t position) const {
  std::size_t block = 0;
  while (!std::binary_search(positions_[block].begin(), positions_[block].end(), position)) ++block;
  return block;
}

std::uint64_t DrawPlan::draws_before(std::size_t instance_block, std::uint64_t draw) const {
  const auto& positions = positions_[instance_block];
  const std::uint64_t full = draw / options_.instances;
  const auto rest = static_cast<std::uint32_t>(draw % options_.instances);
  const auto started = std::lower_bound(positions.begin(), positions.end(), rest) - positions.begin();
  return full * positions.size() + static_cast<std::uint64_t>(started);
}

std::uint64_t DrawPlan::block_draws(std::size_t instance_block) const {
  return draws_before(instance_block, options_.draws) - draws_before(instance_block, options_.first);
}

DrawPlan::Weights DrawPlan::weights() const {
  Weights weights{.instance = {},
                  .background = std::vector<std::uint64_t>(background_blocks()),
                  .round = std::vector<std::uint64_t>(round_blocks_)};
  std::vector<Draw> stretch(4096);
  for (std::size_t b = 0; b < instance_blocks(); ++b) {
    weights.instance.push_back(draws_before(b, options_.draws));
    for (std::size_t z = 0; exact_ && z < background_blocks(); ++z) {
      weights.background[z] += static_cast<std::uint64_t>(positions_[b].size()) * background_rows_[z].size();
    }
    for (std::uint64_t begin = 0; !exact_ && begin < weights.instance[b]; begin += stretch.size()) {
      stretch.resize(std::min<std::uint64_t>(4096, weights.instance[b] - begin));
      fill_sampled(b, begin, stretch);
      for (const Draw& draw : stretch) {
        ++weights.background[draw.background_block];
        ++weights.round[draw.round_block];
      }
    }
    stretch.resize(4096);
  }
  return weights;
}

void DrawPlan::fill(std::size_t instance_block, std::uint64_t begin, std::span<Draw> out) const {
  if (exact_ && !options_.grows) return fill_exact(instance_block, begin, out);
  fill_sampled(instance_block, draws_before(instance_block, options_.first) + begin, out);
}

void DrawPlan::fill_exact(std::size_t instance_block, std::uint64_t begin, std::span<Draw> out) const {
  const auto& positions = positions_[instance_block];
  std::uint64_t skip = begin;
  std::size_t filled = 0;
  for (std::size_t b = 0; b < background_rows_.size() && filled < out.size(); ++b) {
    const auto& rows = background_rows_[b];
    const std::uint64_t tile = static_cast<std::uint64_t>(positions.size()) * rows.size();
    for (std::uint64_t t = std::min(skip, tile); t < tile && filled < out.size(); ++t) {
      out[filled++] = {.instance = order_[positions[t / rows.size()]],
                       .background = rows[t % rows.size()],
                       .background_block = static_cast<std::uint32_t>(b)};
    }
    skip -= std::min(skip, tile);
  }
}

void DrawPlan::fill_sampled(std::size_t instance_block, std::uint64_t begin, std::span<Draw> out) const {
  const auto& positions = positions_[instance_block];
  for (std::size_t k = 0; k < out.size(); ++k) {
    const std::uint64_t t = begin + k;
    out[k] = sampled(t / positions.size(), positions[t % positions.size()]);
  }
}

Draw DrawPlan::sampled(std::uint64_t round, std::uint32_t position) const {
  const std::uint32_t instance = order_[position];
  const std::uint32_t row = background_order_[(offset_[instance] + round) % options_.background_rows];
  const std::uint64_t index = round * options_.instances + position;
  // 128 bits: the product may pass 2^64.
  const auto share = [&](std::uint64_t part, std::uint64_t whole) {
    return static_cast<std::uint32_t>(static_cast<unsigned __int128>(part) * round_blocks_ / whole);
  };
  return {.instance = instance,
          .background = row,
          .background_block = background_block_[row],
          .round_block = by_rounds() ? share(round, rounds_) : share(index, options_.draws)};
}

}  // namespace hifi
