#include "core/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/parallel.h"
#include "core/random.h"

namespace hifi {
namespace {

std::vector<float> random_numbers(std::size_t count, std::uint64_t seed) {
  RandomStream random(seed, Purpose::probe);
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(random.uniform() - .5);
  return values;
}

TEST(Gemm, IsTheSumOfProducts) {
  const std::size_t rows = 7, columns = 37, depth = 53;
  const auto a = random_numbers(whole_tiles(rows) * depth, 1);
  const auto b = random_numbers(columns * depth, 2);
  for (const bool transposed : {false, true}) {
    std::vector<float> c(whole_tiles(rows) * columns, 1.0F);
    multiply({.rows = rows,
              .columns = columns,
              .depth = depth,
              .a = a.data(),
              .a_stride = depth,
              .b = b.data(),
              .b_stride = transposed ? depth : columns,
              .b_transposed = transposed,
              .c = c.data(),
              .c_stride = columns,
              .add = true});
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t k = 0; k < columns; ++k) {
        double sum = 1;
        for (std::size_t j = 0; j < depth; ++j)
          sum += static_cast<double>(a[r * depth + j]) * b[transposed ? k * depth + j : j * columns + k];
        EXPECT_NEAR(c[r * columns + k], sum, 1e-5);
      }
    }
  }
}

// What makes results independent of threads, chunks and resumed runs.
TEST(Gemm, ARowDependsOnItsHalfOfATileAlone) {
  struct Shape {
    std::size_t columns, depth;
    bool transposed;
  };
  for (const auto& [columns, depth, transposed] :
       {Shape{288, 96, false}, Shape{48, 16, false}, Shape{37, 100, false}, Shape{96, 1030, false},
        Shape{500, 96, true}, Shape{64, 8, true}, Shape{2304, 768, false}, Shape{768, 3072, false}}) {
    const std::size_t most = 240;
    const auto a = random_numbers(most * depth, 3);
    const auto b = random_numbers(columns * depth, 4);
    const auto product = [&](const std::vector<float>& left, std::size_t rows) {
      std::vector<float> c(whole_tiles(rows) * columns);
      multiply({.rows = rows,
                .columns = columns,
                .depth = depth,
                .a = left.data(),
                .a_stride = depth,
                .b = b.data(),
                .b_stride = transposed ? depth : columns,
                .b_transposed = transposed,
                .c = c.data(),
                .c_stride = columns});
      return c;
    };
    const auto whole = product(a, most);
    for (const std::size_t rows : {1U, 5U, 12U, 13U, 50U, 119U}) {
      for (const std::size_t first : {0U, 12U, 36U, 96U}) {
        std::vector<float> part(whole_tiles(rows) * depth);
        std::memcpy(part.data(), a.data() + first * depth, sizeof(float) * rows * depth);
        const auto c = product(part, rows);
        EXPECT_EQ(std::memcmp(c.data(), whole.data() + first * columns, sizeof(float) * rows * columns), 0)
            << columns << " x " << depth << ": rows " << first << " to " << first + rows;
      }
    }
    // Two rows of one half change places.
    std::vector<float> swapped = a;
    for (const std::size_t half : {0U, 6U}) {
      std::swap_ranges(swapped.begin() + static_cast<std::ptrdiff_t>((half + 1) * depth),
                       swapped.begin() + static_cast<std::ptrdiff_t>((half + 2) * depth),
                       swapped.begin() + static_cast<std::ptrdiff_t>((half + 52) * depth));
    }
    const auto c = product(swapped, most);
    for (const std::size_t row : {1U, 7U}) {
      EXPECT_EQ(std::memcmp(&c[row * columns], &whole[(row + 51) * columns], sizeof(float) * columns), 0);
    }
  }
}

TEST(Gemm, ServesManyThreads) {
  const std::size_t rows = 120, columns = 256, depth = 200;
  const auto a = random_numbers(rows * depth, 5);
  const auto b = random_numbers(columns * depth, 6);
  std::vector<std::vector<float>> c(16, std::vector<float>(rows * columns));
  Workers workers(4);
  workers.parallel_for(c.size(), [&](std::size_t k) {
    multiply({.rows = rows,
              .columns = columns,
              .depth = depth,
              .a = a.data(),
              .a_stride = depth,
              .b = b.data(),
              .b_stride = columns,
              .c = c[k].data(),
              .c_stride = columns});
  });
  for (const auto& other : c) EXPECT_EQ(other, c.front());
}

}  // namespace
}  // namespace hifi
