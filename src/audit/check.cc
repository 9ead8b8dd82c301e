#include "audit/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "hifi/error.h"

namespace hifi {

namespace {

constexpr std::size_t kProbeRows = 1024;
// Owners print float32 numbers with six or more digits.
constexpr double kAbsolute = 1e-6;
constexpr double kRelative = 1e-5;

std::vector<double> predict(const Model& model, const Frame& rows, std::size_t count) {
  const std::size_t batch = std::max<std::size_t>(1, model.info().batch_rows);
  const std::size_t outputs = model.info().outputs;
  std::vector<double> out(count * outputs);
  for (std::size_t begin = 0; begin < count; begin += batch) {
    const std::size_t size = std::min(batch, count - begin);
    model.predict(std::span(rows.values).subspan(begin * rows.width, size * rows.width), size,
                  std::span(out).subspan(begin * outputs, size * outputs));
  }
  return out;
}

// A file of bare numbers has its first row where the column names should be.
std::optional<double> as_number(const std::string& name) {
  double value = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
  if (name.empty() || error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return value;
}

// Column by column. Names that are numbers are the first row if a row is missing without them: pandas names
// columns 0, 1, ..
std::vector<std::vector<double>> read_expected(const std::string& path, std::size_t rows) {
  const Table table = read_table(path, {.equal_names = true});
  std::vector<std::vector<double>> columns;
  std::size_t numeric_names = 0;
  for (const Column& column : table.columns) numeric_names += as_number(column.name).has_value();
  for (const Column& column : table.columns) {
    if (column.type == ColumnType::text || !column.problem.empty())
      table.require_number(column.name);  // throws
    std::vector<double> values = column.values;
    if (numeric_names == table.columns.size() && table.rows + 1 == rows)
      values.insert(values.begin(), *as_number(column.name));
    columns.push_back(std::move(values));
  }
  return columns;
}

}  // namespace

Probe check_deterministic(const Model& model, const Loss& loss, const Frame& rows) {
  const std::size_t count = std::min(kProbeRows, rows.rows);
  std::vector<double> first = predict(model, rows, count);
  const auto start = std::chrono::steady_clock::now();  // the first call also sets things up
  const std::vector<double> second = predict(model, rows, count);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  for (std::size_t k = 0; k < first.size(); ++k) {
    if (std::memcmp(&first[k], &second[k], sizeof(double)) == 0) continue;
    throw model_error(fmt::format("{}: is not deterministic: data row {} got {} and then {}",
                                  model.info().path, k / model.info().outputs + 1, first[k], second[k]),
                      "fix its seed or switch its randomness off");
  }
  for (std::size_t k = 0; k < first.size(); ++k) {
    if (std::isfinite(first[k])) continue;
    const std::size_t row = k / model.info().outputs;
    const auto values = rows.row(row);
    const bool missing = std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
    throw model_error(fmt::format("{}: answered {} for data row {}", model.info().path,
                                  std::isnan(first[k]) ? "nan" : fmt::format("{}", first[k]), row + 1),
                      missing ? "the row has a missing value, which the model may not know how to take" : "");
  }
  loss.check(first);
  // A network takes as long for a batch that is not full.
  const std::size_t batch = std::max<std::size_t>(1, model.info().run_rows);
  return {took.count() / static_cast<double>((count + batch - 1) / batch * batch), std::move(first)};
}

void check_predictions(const Model& model, const Frame& rows, const std::string& path) {
  const auto expected = read_expected(path, rows.rows);
  const std::size_t outputs = model.info().outputs;
  if (expected.size() != outputs) {
    throw input_error(fmt::format("{}: has {} column{}, the model answers each row with {} number{}", path,
                                  expected.size(), expected.size() == 1 ? "" : "s", outputs,
                                  outputs == 1 ? "" : "s"));
  }
  if (expected[0].size() != rows.rows) {
    throw input_error(fmt::format("{}: has {} rows, the data has {}", path, expected[0].size(), rows.rows));
  }
  const std::vector<double> ours = predict(model, rows, rows.rows);
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const double theirs = expected[k % outputs][k / outputs];
    if (std::abs(ours[k] - theirs) <= kAbsolute + kRelative * std::abs(theirs)) continue;
    throw model_error(
        fmt::format("{}: data row {}: we predict {}, the owner {}", path, k / outputs + 1, ours[k], theirs),
        "the predictions must come from this model on these rows; multi-class models give one probability "
        "per class");
  }
}

}  // namespace hifi
