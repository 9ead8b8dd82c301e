#include "game/leaf_background.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

namespace hifi {

namespace {

constexpr unsigned kLaneBits = LatticeShape::kLaneBits;
constexpr std::size_t kLanes = MarginSums::kLanes;
constexpr std::size_t kLeavesPerTask = 1024;
constexpr std::size_t kPatternBytes = kLanes * sizeof(std::uint64_t) + sizeof(std::uint32_t);

using Lanes = std::uint64_t __attribute__((vector_size(kLanes * 8), aligned(8), may_alias));

// avoiding[b]: lanes without the players of b.
constexpr std::array<std::array<std::uint64_t, kLanes>, kLanes> make_avoiding() {
  std::array<std::array<std::uint64_t, kLanes>, kLanes> masks{};
  for (std::size_t b = 0; b < kLanes; ++b) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      masks[b][lane] = (lane & b) == 0 ? std::numeric_limits<std::uint64_t>::max() : 0;
    }
  }
  return masks;
}
alignas(64) constexpr auto kAvoiding = make_avoiding();

struct Pattern {
  std::uint32_t mask;
  std::uint32_t rows;
};

template <class Mask>
std::uint32_t mask_at(const std::uint8_t* row, std::size_t leaf) {
  return reinterpret_cast<const Mask*>(row)[leaf];
}

std::uint32_t mask_of(const TreeLayout& layout, const std::uint8_t* row, std::size_t leaf) {
  if (layout.mask_bytes == 1) return mask_at<std::uint8_t>(row, leaf);
  return layout.mask_bytes == 2 ? mask_at<std::uint16_t>(row, leaf) : mask_at<std::uint32_t>(row, leaf);
}

// Distinct masks in ascending order, with how often each occurs.
void count(std::vector<std::uint32_t>& masks, std::vector<std::uint32_t>& seen,
           std::vector<Pattern>& patterns) {
  patterns.clear();
  if (seen.empty()) {
    std::sort(masks.begin(), masks.end());
    for (const std::uint32_t mask : masks) {
      if (patterns.empty() || patterns.back().mask != mask) patterns.push_back({mask, 0});
      ++patterns.back().rows;
    }
    return;
  }
  for (const std::uint32_t mask : masks) {
    if (seen[mask]++ == 0) patterns.push_back({mask, 0});
  }
  for (Pattern& pattern : patterns) pattern.rows = std::exchange(seen[pattern.mask], 0);
  std::sort(patterns.begin(), patterns.end(), [](Pattern a, Pattern b) { return a.mask < b.mask; });
}

void merge(const std::vector<Pattern>& more, std::vector<Pattern>& patterns) {
  if (patterns.empty()) {
    patterns = more;
    return;
  }
  std::vector<Pattern> both(patterns.size() + more.size());
  std::merge(patterns.begin(), patterns.end(), more.begin(), more.end(), both.begin(),
             [](Pattern a, Pattern b) { return a.mask < b.mask; });
  patterns.clear();
  for (const Pattern pattern : both) {
    if (patterns.empty() || patterns.back().mask != pattern.mask) patterns.push_back({pattern.mask, 0});
    patterns.back().rows += pattern.rows;
  }
}

// Players on the path of each leaf.
std::vector<std::uint32_t> path_masks(const TreeLayout& layout) {
  std::vector<std::uint32_t> result(layout.leaves());
  std::size_t first_split = 0;
  for (const MaskTree& tree : layout.mask_trees) {
    std::vector<std::uint32_t> above(tree.splits.size());
    for (std::size_t s = 0; s < tree.splits.size(); ++s) {
      const std::uint32_t mask = above[s] | layout.background_bits[first_split + s];
      for (const std::int32_t child : {tree.splits[s].left, tree.splits[s].right}) {
        (child >= 0 ? above[static_cast<std::size_t>(child)]
                    : result[tree.first_leaf + static_cast<std::size_t>(-1 - child)]) = mask;
      }
    }
    first_split += tree.splits.size();
  }
  return result;
}

// A pattern at every coalition that contains `asks` and avoids `avoids`: signed terms for the subset sums.
inline __attribute__((always_inline)) void add_signed(std::uint64_t* cells, std::uint32_t asks,
                                                      std::uint32_t avoids, const Lanes& value) {
  std::uint32_t sub = 0;
  do {
    const auto sign = static_cast<std::uint64_t>(-(std::popcount(sub) & 1));
    *reinterpret_cast<Lanes*>(cells + (asks | sub) * kLanes) += (value ^ sign) - sign;
    sub = (sub - avoids) & avoids;
  } while (sub != 0);
}

// Integers: both give the same bits.
__attribute__((target_clones("avx2", "default"))) void transform(std::uint64_t* cells, std::size_t size) {
  for (std::size_t step = kLanes; step < size; step *= 2) {
    for (std::size_t group = 0; group < size; group += 2 * step) {
      for (std::size_t k = group; k < group + step; k += kLanes) {
        *reinterpret_cast<Lanes*>(cells + k + step) += *reinterpret_cast<const Lanes*>(cells + k);
      }
    }
  }
}

constexpr int kLateBits = 6;  // fewer signed terms than 2^6 are never late

}  // namespace

std::uint64_t LeafBackground::most_bytes(const TreeLayout& layout, std::size_t rows) {
  std::uint64_t patterns = 0;
  for (const std::uint32_t path : path_masks(layout)) {
    patterns += std::min<std::uint64_t>(std::uint64_t{1} << std::popcount(path >> kLaneBits), rows);
  }
  return patterns * (kPatternBytes + sizeof(Pattern)) + layout.leaves() * sizeof(std::size_t);
}

LeafBackground::LeafBackground(const TreeLayout& layout, const Frame& frame,
                               std::span<const std::uint32_t> rows, std::uint64_t memory, Workers& workers)
    : layout_(layout) {
  std::vector<std::vector<Pattern>> patterns(layout.leaves());
  const std::uint64_t room =
      std::max<std::uint64_t>(memory / std::max<std::size_t>(layout.row_bytes(), 1), TreeEnsemble::kRows);
  const std::size_t at_a_time = std::min<std::uint64_t>(rows.size(), room);
  TreeMasks masks(layout, frame, TreeMasks::Side::background, at_a_time);
  const std::size_t tasks = (layout.leaves() + kLeavesPerTask - 1) / kLeavesPerTask;
  for (std::size_t begin = 0; begin < rows.size(); begin += at_a_time) {
    const auto part = rows.subspan(begin, std::min(at_a_time, rows.size() - begin));
    masks.ensure(part, workers);
    workers.parallel_for(tasks, [&](std::size_t task) {
      std::vector<std::uint32_t> seen(layout.mask_bytes < 4 ? std::size_t{1} << (8 * layout.mask_bytes) : 0);
      std::vector<std::uint32_t> of_leaf(part.size());
      std::vector<Pattern> found;
      const std::size_t end = std::min(layout.leaves(), (task + 1) * kLeavesPerTask);
      for (std::size_t leaf = task * kLeavesPerTask; leaf < end; ++leaf) {
        if (layout.values[leaf] == 0) continue;  // also those that only fill up a chunk
        for (std::size_t r = 0; r < part.size(); ++r) of_leaf[r] = mask_of(layout, masks.row(part[r]), leaf);
        count(of_leaf, seen, found);
        merge(found, patterns[leaf]);
      }
    });
  }
  first_.push_back(0);
  for (std::size_t leaf = 0; leaf < layout.leaves(); ++leaf) {
    const auto value =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(layout.values[leaf])));
    for (std::size_t p = 0; p < patterns[leaf].size(); ++p) {
      const Pattern pattern = patterns[leaf][p];
      if (p == 0 || patterns[leaf][p - 1].mask >> kLaneBits != pattern.mask >> kLaneBits) {
        asks_.push_back(pattern.mask >> kLaneBits);
        lanes_.resize(lanes_.size() + kLanes);
      }
      const std::uint32_t low = pattern.mask & (kLanes - 1);
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        if ((lane & low) == low) lanes_[lanes_.size() - kLanes + lane] += value * pattern.rows;
      }
    }
    patterns[leaf] = {};
    first_.push_back(asks_.size());
  }
}

__attribute__((target_clones("avx2", "default"))) void LeafBackground::sum(const std::uint8_t* x,
                                                                           std::size_t begin, std::size_t end,
                                                                           MarginSums& sums) const {
  const std::size_t size = layout_.shape.cells();
  const unsigned rest = layout_.shape.bits - kLaneBits;
  const std::uint32_t all = (1U << rest) - 1;
  std::fill(sums.cells.begin(), sums.cells.end(), 0);
  sums.late.clear();
  for (std::size_t leaf = begin; leaf < end; ++leaf) {
    const std::uint32_t mask = mask_of(layout_, x, leaf);
    const std::uint32_t avoids = mask >> kLaneBits;
    const auto& lanes = *reinterpret_cast<const Lanes*>(kAvoiding[mask & (kLanes - 1)].data());
    for (std::size_t p = first_[leaf]; p < first_[leaf + 1]; ++p) {
      if ((asks_[p] & avoids) != 0) continue;
      const int signs = std::popcount(avoids);
      if (signs > kLateBits && static_cast<int>(rest) - std::popcount(asks_[p] & all) < 2 * signs) {
        sums.late.push_back({p, mask});
        continue;
      }
      add_signed(sums.cells.data(), asks_[p] & all, avoids,
                 *reinterpret_cast<const Lanes*>(lanes_.data() + p * kLanes) & lanes);
    }
  }
  transform(sums.cells.data(), size);
  for (const MarginSums::Late& late : sums.late) {
    const auto& lanes = *reinterpret_cast<const Lanes*>(kAvoiding[late.avoids & (kLanes - 1)].data());
    const Lanes value = *reinterpret_cast<const Lanes*>(lanes_.data() + late.pattern * kLanes) & lanes;
    const std::uint32_t free = all & ~(asks_[late.pattern] | late.avoids >> kLaneBits);
    std::uint32_t sub = 0;
    do {
      *reinterpret_cast<Lanes*>(sums.cells.data() + ((asks_[late.pattern] & all) | sub) * kLanes) += value;
      sub = (sub - free) & free;
    } while (sub != 0);
  }
}

}  // namespace hifi
