#include "masking/background.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "core/random.h"
#include "hifi/error.h"

namespace hifi {

namespace {

constexpr std::size_t kEnumeratedRows = 65'536;  // {0,1}^n up to 16 columns is always enumerated

std::vector<std::uint32_t> player_columns(const Players& players) {
  std::vector<std::uint32_t> all;
  for (const auto& columns : players.columns) all.insert(all.end(), columns.begin(), columns.end());
  return all;
}

Frame mean_row(const Frame& data, const InputColumns& columns, const Players& players) {
  Frame frame{.rows = 1, .width = data.width, .values = std::vector<double>(data.width)};
  std::vector<bool> owned(data.width);
  for (const std::uint32_t c : player_columns(players)) owned[c] = true;
  for (std::size_t c = 0; c < data.width; ++c) {
    if (!columns.categories[c].empty()) {
      frame.values[c] = std::nan("");
      if (!owned[c]) continue;  // never replaced
      throw input_error(fmt::format("--background mean: column \"{}\" holds categories, which have no mean",
                                    columns.names[c]),
                        "use --background data or row:K");
    }
    double sum = 0;
    std::size_t present = 0;
    for (std::size_t r = 0; r < data.rows; ++r) {
      const double value = data.row(r)[c];
      if (std::isnan(value)) continue;
      sum += value;
      ++present;
    }
    frame.values[c] = present == 0 ? std::nan("") : sum / static_cast<double>(present);
  }
  return frame;
}

Frame permuted_columns(const Frame& data, std::uint64_t seed) {
  Frame frame = data;
  for (std::size_t c = 0; c < data.width; ++c) {
    const auto order = RandomStream(seed, Purpose::marginals, c).permutation(data.rows);
    for (std::size_t r = 0; r < data.rows; ++r) frame.row(r)[c] = data.row(order[r])[c];
  }
  return frame;
}

// Columns that no player owns are never replaced; they are 0 here and not read.
Background uniform_binary(const Frame& data, const InputColumns& columns, const Players& players, bool exact,
                          std::uint64_t seed) {
  const auto active = player_columns(players);
  for (const std::uint32_t c : active) {
    for (std::size_t r = 0; r < data.rows; ++r) {
      const double value = data.row(r)[c];
      if (value == 0 || value == 1) continue;
      throw input_error(
          fmt::format("--background uniform-binary: column \"{}\", data row {} is {}, not 0 or 1",
                      columns.names[c], r + 1, value),
          "use --background data or marginals");
    }
  }
  const bool enumerate = exact || (active.size() <= 16);
  if (enumerate && active.size() > 24) {
    throw input_error(
        fmt::format("--background uniform-binary has 2^{} rows, too many for --exact", active.size()),
        "use --budget");
  }
  const std::size_t rows = enumerate ? std::size_t{1} << active.size() : kEnumeratedRows;
  Background background{.fixed = enumerate};
  background.frame = {.rows = rows, .width = data.width, .values = std::vector<double>(rows * data.width)};
  for (std::size_t r = 0; r < rows; ++r) {
    RandomStream random(seed, Purpose::uniform_binary, r);
    for (std::size_t k = 0; k < active.size(); ++k) {
      const bool bit = enumerate ? (r >> k) & 1U : random.next_u64() >> 63;
      background.frame.row(r)[active[k]] = bit ? 1 : 0;
    }
  }
  background.description = enumerate ? fmt::format("all {} rows of {{0,1}}^{}", rows, active.size())
                                     : fmt::format("{} rows drawn from {{0,1}}^{}", rows, active.size());
  return background;
}

std::size_t row_number(const std::string& spec, const Frame& data) {
  const std::string digits = spec.substr(4);
  std::size_t row = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), row);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    throw Error(ErrorCode::usage, fmt::format("--background {}: row:K needs a whole number from 0", spec));
  }
  if (row >= data.rows) {
    throw input_error(fmt::format("--background {}: the data has rows 0 to {}", spec, data.rows - 1));
  }
  return row;
}

}  // namespace

bool is_background_table(const std::string& spec) {
  return spec != "data" && spec != "uniform-binary" && spec != "marginals" && spec != "mean" &&
         !spec.starts_with("row:");
}

Background make_background(const std::string& spec, const std::optional<Table>& table, const Frame& data,
                           const InputColumns& columns, const Players& players, bool exact,
                           std::uint64_t seed) {
  Background background;
  if (spec == "data") {
    background = {
        .description = fmt::format("the {} rows of the data (an instance may meet itself)", data.rows),
        .frame = data,
        .is_data = true};
  } else if (spec == "uniform-binary") {
    background = uniform_binary(data, columns, players, exact, seed);
  } else if (spec == "marginals") {
    if (exact) {
      throw input_error(
          "--exact with --background marginals: the product of the columns cannot be enumerated",
          "use --budget, or --background data");
    }
    background = {
        .description = fmt::format("{} rows, each column of the data permuted by itself", data.rows),
        .frame = permuted_columns(data, seed),
        .product = true};
  } else if (spec == "mean") {
    background = {
        .description = "the mean of the data", .frame = mean_row(data, columns, players), .fixed = true};
  } else if (spec.starts_with("row:")) {
    const auto row = data.row(row_number(spec, data));
    background = {.description = fmt::format("data row {} (counted from 0)", spec.substr(4)),
                  .frame = {.rows = 1, .width = data.width, .values = {row.begin(), row.end()}},
                  .fixed = true};
  } else {
    if (table->rows == 0) throw input_error(fmt::format("{}: the background has no rows", spec));
    background = {.description = fmt::format("{} rows of {}", table->rows, spec),
                  .frame = make_frame(*table, columns)};
  }
  background.spec = spec;
  background.hash = frame_hash(background.frame, columns);
  return background;
}

}  // namespace hifi
