#include "game/tree_masks.h"

#include <algorithm>

namespace hifi {

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

// The buffers of one task, reused by its thread.
struct Buffers {
  std::vector<double> rows;
  std::vector<std::uint8_t> right;
  std::vector<std::uint32_t> space;
};

}  // namespace

TreeMasks::TreeMasks(const TreeLayout& layout, const Frame& frame, Side side, std::size_t capacity)
    : layout_(layout),
      frame_(frame),
      side_(side),
      slot_of_row_(frame.rows, kNone),
      row_of_slot_(std::min(capacity, frame.rows), kNone),
      needed_(row_of_slot_.size()) {
  // All ones: leaves that only fill up a chunk are never reached.
  masks_.assign(row_of_slot_.size() * layout.row_bytes(), 0xff);
}

std::uint32_t TreeMasks::free_slot() {
  while (needed_[hand_] == calls_) hand_ = static_cast<std::uint32_t>((hand_ + 1) % capacity());
  const std::uint32_t slot = hand_;
  hand_ = static_cast<std::uint32_t>((hand_ + 1) % capacity());
  return slot;
}

void TreeMasks::ensure(std::span<const std::uint32_t> rows, Workers& workers) {
  ++calls_;
  for (const std::uint32_t row : rows) {
    if (slot_of_row_[row] != kNone) needed_[slot_of_row_[row]] = calls_;
  }
  std::vector<std::uint32_t> missing;
  for (const std::uint32_t row : rows) {
    if (slot_of_row_[row] != kNone) continue;
    const std::uint32_t slot = free_slot();
    if (row_of_slot_[slot] != kNone) slot_of_row_[row_of_slot_[slot]] = kNone;
    row_of_slot_[slot] = row;
    slot_of_row_[row] = slot;
    needed_[slot] = calls_;
    missing.push_back(row);
  }
  constexpr std::size_t kRows = TreeEnsemble::kRows;
  workers.parallel_for((missing.size() + kRows - 1) / kRows, [&](std::size_t task) {
    const std::size_t begin = task * kRows;
    compute(std::span(missing).subspan(begin, std::min(kRows, missing.size() - begin)));
  });
}

void TreeMasks::compute(std::span<const std::uint32_t> rows) {
  constexpr std::size_t kRows = TreeEnsemble::kRows;
  thread_local Buffers task;
  task.rows.clear();
  void* places[kRows] = {};
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto values = frame_.row(rows[r]);
    task.rows.insert(task.rows.end(), values.begin(), values.end());
    places[r] = masks_.data() + slot_of_row_[rows[r]] * layout_.row_bytes();
  }
  const auto& bits = side_ == Side::instance ? layout_.instance_bits : layout_.background_bits;
  const std::uint32_t root = side_ == Side::instance ? 0 : layout_.background_root;
  task.right.resize(bits.size() * kRows);
  layout_.trees->decide(task.rows, rows.size(), task.right);
  const TreeKernels& kernels = tree_kernels();
  std::size_t split = 0;
  for (const MaskTree& tree : layout_.mask_trees) {
    task.space.resize(std::max(task.space.size(), (tree.splits.size() + tree.leaves + 1) * kRows));
    kernels.masks(tree, layout_.mask_bytes, task.right.data() + split * kRows, root, bits.data() + split,
                  task.space.data(), places, rows.size());
    split += tree.splits.size();
  }
}

}  // namespace hifi
