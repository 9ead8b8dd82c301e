// Products of float matrices, row-major. OpenBLAS does them, behind the plug-in `blas`.
//
// OpenBLAS works on tiles of rows, and a row is rounded by its place in a tile: its first and its second half
// differ, and so does a last tile that is not full. So rows come in whole tiles here; then a row of the
// product depends on that row, the half of the tile it lies in and the right factor, not on its company, and
// calls may be cut and merged at tiles without changing a bit. OpenBLAS runs on the calling thread; call it
// from many.
#pragma once

#include <cstddef>

namespace hifi {

inline constexpr std::size_t kRowTile = 12;
inline constexpr std::size_t kHalfTile = kRowTile / 2;

constexpr std::size_t whole_tiles(std::size_t rows) { return (rows + kRowTile - 1) / kRowTile * kRowTile; }

struct Product {
  std::size_t rows = 0;  // of a and c; both have room for whole_tiles(rows), which are read and written
  std::size_t columns = 0;
  std::size_t depth = 0;
  const float* a = nullptr;  // rows x depth, `a_stride` floats from row to row
  std::size_t a_stride = 0;
  const float* b = nullptr;  // depth x columns; transposed: columns x depth
  std::size_t b_stride = 0;
  bool b_transposed = false;
  float* c = nullptr;  // rows x columns
  std::size_t c_stride = 0;
  bool add = false;  // to what c holds
};

// Throws Error(input) if the plug-in cannot be opened.
void multiply(const Product& product);

}  // namespace hifi
