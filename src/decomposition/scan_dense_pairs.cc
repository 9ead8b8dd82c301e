// The mixed differences of all pairs over a complete lattice, while tiles of it are in the cache.
//
// The players are cut into groups of at most five. A pass takes two groups and reads the table in
// tiles that hold all subsets of both (the rows) for eight subsets of three further players (the
// lanes), copied together. Within a tile gain(i|.) is formed once per player i and serves all j:
// D_ij = gain(i|C+j) - gain(i|C) costs one subtraction, one minimum and one maximum. Every pair of
// players meets in some pass, so the table is read once per pass, not once per pair.
#include <algorithm>
#include <cstring>
#include <limits>

#include "decomposition/scan_dense.h"
#include "decomposition/scan_kernels.h"

namespace hifi {

namespace {

constexpr std::size_t kMaxGroup = 5;
constexpr std::size_t kMaxRows = std::size_t{1} << (2 * kMaxGroup);
constexpr int kMaxBlockBits = 8;        // extremes are kept per block of tiles, at most 2^8 of them
constexpr std::size_t kFewPlayers = 9;  // below, three groups of three do not exist

struct PassPair {
  unsigned i_row, j_row;  // row bits of the two players
  std::size_t pair;       // place in the list of wanted pairs
};

// Players' bits of the table as rows, lanes and blocks of tiles.
struct Pass {
  std::vector<std::uint64_t> row_offsets;
  std::array<std::uint64_t, kLanes> lane_offsets;
  std::uint64_t tiles_in_block = 0;  // players that vary over the tiles of one block
  std::uint64_t blocks = 0;          // players that vary over the blocks
  std::uint64_t in_tile = 0;
  std::vector<PassPair> pairs;  // by i_row
};

// The extremes of D for a pair in every block of its pass.
struct PairBlocks {
  const Pass* pass = nullptr;
  std::vector<double> low, high;
};

struct Group {
  std::size_t begin, end;
};

std::vector<Group> cut_into_groups(std::size_t players) {
  const std::size_t count = std::max<std::size_t>(3, (players + kMaxGroup - 1) / kMaxGroup);
  std::vector<Group> groups;
  for (std::size_t k = 0; k < count; ++k) groups.push_back({k * players / count, (k + 1) * players / count});
  return groups;
}

Pass lay_out(std::size_t players, const std::vector<Group>& groups, std::size_t a, std::size_t b) {
  Pass pass;
  // Neighbours in memory (players 0, 1, 2) are the lanes; where group 0 is active they are the lowest
  // row bits, and lanes come from a group at rest.
  std::size_t lanes = 0;
  if (a == 0) lanes = groups[b == 1 ? 2 : 1].begin;
  const std::uint64_t lane_mask = std::uint64_t{7} << lanes;
  std::uint64_t row_mask = 0;
  for (const Group& group : {groups[a], groups[b]}) {
    row_mask |= player_bit(group.end) - player_bit(group.begin);
  }
  pass.in_tile = row_mask | lane_mask;
  for (std::size_t l = 0; l < kLanes; ++l) pass.lane_offsets[l] = deposit(l, lane_mask);
  pass.row_offsets.resize(std::size_t{1} << std::popcount(row_mask));
  for (std::size_t r = 0; r < pass.row_offsets.size(); ++r) pass.row_offsets[r] = deposit(r, row_mask);
  const std::uint64_t rest = (player_bit(players) - 1) & ~pass.in_tile;
  const int block_bits = std::min(kMaxBlockBits, std::popcount(rest));
  pass.tiles_in_block = deposit((std::uint64_t{1} << (std::popcount(rest) - block_bits)) - 1, rest);
  pass.blocks = rest & ~pass.tiles_in_block;
  return pass;
}

// Passes over all pairs of groups; a group's own pairs go with its first pass.
std::vector<Pass> plan_passes(std::size_t players, const std::vector<PairExtremes>& wanted) {
  const std::vector<Group> groups = cut_into_groups(players);
  const auto group_of = [&](std::size_t player) {
    std::size_t g = 0;
    while (player >= groups[g].end) ++g;
    return g;
  };
  std::vector<Pass> passes;
  for (std::size_t a = 0; a < groups.size(); ++a) {
    for (std::size_t b = a + 1; b < groups.size(); ++b) {
      Pass pass = lay_out(players, groups, a, b);
      const auto row_bit = [&](std::size_t player, std::size_t group) {
        const std::size_t before = group == a ? 0 : groups[a].end - groups[a].begin;
        return static_cast<unsigned>(before + player - groups[group].begin);
      };
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        const std::size_t gi = group_of(wanted[k].first), gj = group_of(wanted[k].second);
        const bool across = gi == a && gj == b;
        const bool own =
            gi == gj && ((gi == a && b == a + 1) || (gi == b && b == groups.size() - 1 && b == a + 1));
        if (across || own) {
          pass.pairs.push_back({row_bit(wanted[k].first, gi), row_bit(wanted[k].second, gj), k});
        }
      }
      if (!pass.pairs.empty()) passes.push_back(std::move(pass));
    }
  }
  return passes;
}

void load_tile(const Pass& pass, const double* losses, double* tile) {
  const std::size_t rows = pass.row_offsets.size();
  if (pass.lane_offsets[1] == 1) {
    for (std::size_t r = 0; r < rows; ++r) {
      std::memcpy(tile + r * kLanes, losses + pass.row_offsets[r], kLanes * sizeof(double));
    }
    return;
  }
  // Eight rows are neighbours in memory: an 8 x 8 transposition.
  for (std::size_t r = 0; r < rows; r += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      const double* from = losses + pass.row_offsets[r] + pass.lane_offsets[l];
      for (std::size_t k = 0; k < kLanes; ++k) tile[(r + k) * kLanes + l] = from[k];
    }
  }
}

void scan_block(const DenseLattice& lattice, const Pass& pass, std::size_t block,
                std::vector<PairBlocks>& found) {
  alignas(64) double tile[kMaxRows * kLanes];
  alignas(64) double gains[kMaxRows / 2 * kLanes];
  const ScanKernels& kernels = scan_kernels();
  const std::size_t rows = pass.row_offsets.size();
  const std::uint64_t base = deposit(block, pass.blocks);
  std::uint64_t part = 0;
  do {
    load_tile(pass, lattice.losses.data() + (base | part), tile);
    unsigned formed = ~0U;
    for (const PassPair& pair : pass.pairs) {
      if (pair.i_row != formed) kernels.differences(tile, 0, rows / 2, pair.i_row, gains);
      formed = pair.i_row;
      double low = 0, high = 0;
      kernels.mixed_extremes(gains, rows / 4, pair.j_row - 1, &low, &high);  // bit i is taken out
      double& block_low = found[pair.pair].low[block];
      double& block_high = found[pair.pair].high[block];
      block_low = part == 0 ? low : std::min(block_low, low);
      block_high = part == 0 ? high : std::max(block_high, high);
    }
    part = (part - pass.tiles_in_block) & pass.tiles_in_block;
  } while (part != 0);
}

void scan_passes(const DenseLattice& lattice, const std::vector<Pass>& passes, std::vector<PairBlocks>& found,
                 Workers& workers) {
  std::vector<std::pair<const Pass*, std::size_t>> tasks;
  for (const Pass& pass : passes) {
    const std::size_t blocks = std::size_t{1} << std::popcount(pass.blocks);
    for (const PassPair& pair : pass.pairs) {
      found[pair.pair] = {&pass, std::vector<double>(blocks), std::vector<double>(blocks)};
    }
    for (std::size_t block = 0; block < blocks; ++block) tasks.emplace_back(&pass, block);
  }
  workers.parallel_for(tasks.size(), [&](std::size_t task) {
    scan_block(lattice, *tasks[task].first, tasks[task].second, found);
  });
}

// A lattice too small for tiles: one block.
PairBlocks scan_small(const DenseLattice& lattice, const PairExtremes& pair) {
  const std::uint64_t contexts = lattice.everyone() & ~player_bit(pair.first) & ~player_bit(pair.second);
  PairBlocks found{nullptr, {lattice.mixed(pair.first, pair.second, 0)}, {}};
  found.high = found.low;
  for (std::uint64_t c = contexts; c != 0; c = (c - 1) & contexts) {
    const double d = lattice.mixed(pair.first, pair.second, c);
    found.low[0] = std::min(found.low[0], d);
    found.high[0] = std::max(found.high[0], d);
  }
  return found;
}

PairContexts find_contexts(const DenseLattice& lattice, const PairExtremes& pair, const PairBlocks& extremes,
                           const std::vector<std::uint32_t>& order) {
  Blocks blocks;
  blocks.outer = extremes.pass == nullptr ? 0 : extremes.pass->blocks;
  blocks.inner = lattice.everyone() & ~blocks.outer & ~player_bit(pair.first) & ~player_bit(pair.second);
  PairContexts contexts;
  if (pair.synergy() > 0) {
    contexts.synergy = smallest_tie(
        blocks, order, positive_tie_threshold(pair.highest, lattice.tolerance),
        [&](std::uint32_t block) { return extremes.high[block]; },
        [&](std::uint64_t c) { return lattice.mixed(pair.first, pair.second, c); });
  }
  if (pair.redundancy() > 0) {
    contexts.redundancy = smallest_tie(
        blocks, order, positive_tie_threshold(-pair.lowest, lattice.tolerance),
        [&](std::uint32_t block) { return -extremes.low[block]; },
        [&](std::uint64_t c) { return -lattice.mixed(pair.first, pair.second, c); });
  }
  return contexts;
}

std::vector<PairExtremes> wanted_pairs(std::size_t players, const PairSelection& selection) {
  std::vector<PairExtremes> wanted;
  for (std::size_t i = 0; i < players; ++i) {
    for (std::size_t j = i + 1; j < players; ++j) {
      if (!wants_pair(selection, i, j)) continue;
      wanted.push_back({.first = static_cast<std::uint32_t>(i),
                        .second = static_cast<std::uint32_t>(j),
                        .contexts = std::uint64_t{1} << (players - 2)});
    }
  }
  return wanted;
}

}  // namespace

std::vector<PairProfile> scan_dense_pairs(const DenseLattice& lattice, const PairSelection& selection,
                                          Workers& workers) {
  std::vector<PairExtremes> pairs = wanted_pairs(lattice.players, selection);
  if (pairs.empty()) return {};
  std::vector<PairBlocks> found(pairs.size());
  std::vector<Pass> passes;
  if (lattice.players < kFewPlayers) {
    for (std::size_t k = 0; k < pairs.size(); ++k) found[k] = scan_small(lattice, pairs[k]);
  } else {
    passes = plan_passes(lattice.players, pairs);
    scan_passes(lattice, passes, found, workers);
  }
  std::vector<std::size_t> place(lattice.players * lattice.players);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    pairs[k].lowest = *std::min_element(found[k].low.begin(), found[k].low.end());
    pairs[k].highest = *std::max_element(found[k].high.begin(), found[k].high.end());
    place[pairs[k].first * lattice.players + pairs[k].second] = k;
  }
  std::vector<std::vector<std::uint32_t>> orders(kMaxBlockBits + 1);
  for (int bits = 0; bits <= kMaxBlockBits; ++bits)
    orders[static_cast<std::size_t>(bits)] = context_order(bits);

  const std::vector<PairExtremes> listed = select_pairs(lattice.players, selection, pairs);
  std::vector<PairProfile> profiles(listed.size());
  workers.parallel_for(listed.size(), [&](std::size_t k) {
    const PairBlocks& extremes = found[place[listed[k].first * lattice.players + listed[k].second]];
    const auto& order = orders[static_cast<std::size_t>(std::countr_zero(extremes.low.size()))];
    profiles[k] = pair_profile(listed[k], find_contexts(lattice, listed[k], extremes, order));
  });
  return profiles;
}

}  // namespace hifi
