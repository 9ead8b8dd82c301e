// For rows of a table: which players' values leave the path of each leaf. Kept for as many rows as there is
// memory for, computed again when a row was driven out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.h"
#include "game/tree_layout.h"
#include "masking/frame.h"

namespace hifi {

class TreeMasks {
 public:
  enum class Side { instance, background };

  TreeMasks(const TreeLayout& layout, const Frame& frame, Side side, std::size_t capacity);

  std::size_t rows() const { return slot_of_row_.size(); }
  std::size_t capacity() const { return row_of_slot_.size(); }
  // Computes what is missing of these rows; others may be driven out.
  // REQUIRES: at most `capacity` distinct rows
  void ensure(std::span<const std::uint32_t> rows, Workers& workers);
  // REQUIRES: in the last ensure()
  const std::uint8_t* row(std::uint32_t index) const {
    return masks_.data() + slot_of_row_[index] * layout_.row_bytes();
  }

 private:
  std::uint32_t free_slot();
  void compute(std::span<const std::uint32_t> rows);

  const TreeLayout& layout_;
  const Frame& frame_;
  Side side_;
  std::vector<std::uint8_t> masks_;
  std::vector<std::uint32_t> slot_of_row_;
  std::vector<std::uint32_t> row_of_slot_;
  std::vector<std::uint64_t> needed_;  // by slot: the last ensure() that named it
  std::uint64_t calls_ = 0;
  std::uint32_t hand_ = 0;  // where the search for a slot goes on
};

}  // namespace hifi
