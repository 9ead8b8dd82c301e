// Prompts as rows of a matrix: one row per distinct prefix, so that prompts that begin alike share rows.
//
// Rows lie by position: even positions in the first half of every tile of core/gemm.h, odd ones in the
// second. So what a prompt's rows come to does not depend on which prompts are computed with it. Rows that
// belong to nobody fill the tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hifi {

class TokenRows {
 public:
  struct Row {
    std::int32_t token = -1;  // -1: fills a tile
    std::uint32_t position = 0;
    std::uint32_t source = 0;  // of replacements (game/circuit_game.h)
    std::uint32_t path = 0;    // where its ancestors begin
  };
  struct Prompt {
    std::span<const std::int32_t> tokens;
    std::uint32_t source = 0;  // prompts of different sources share nothing
  };

  // With `share`, prompts with a common beginning share its rows.
  TokenRows(std::span<const Prompt> prompts, bool share);

  std::size_t size() const { return rows_.size(); }  // whole tiles
  const Row& row(std::size_t index) const { return rows_[index]; }
  // The rows that a row attends to, by position, itself last.
  std::span<const std::uint32_t> ancestors(std::size_t index) const {
    return std::span(ancestors_).subspan(rows_[index].path, rows_[index].position + 1);
  }
  // The row of a prompt's last token.
  std::uint32_t last(std::size_t prompt) const { return last_[prompt]; }
  std::size_t prompts() const { return last_.size(); }
  std::size_t longest() const { return longest_; }

  // How many rows these prompts would take.
  static std::size_t count(std::span<const Prompt> prompts, bool share);

 private:
  std::vector<Row> rows_;
  std::vector<std::uint32_t> ancestors_;
  std::vector<std::uint32_t> last_;
  std::size_t longest_ = 0;
};

}  // namespace hifi
