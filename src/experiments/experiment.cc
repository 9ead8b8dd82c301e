#include "experiments/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/version.h"
#include "report/csv.h"
#include "report/findings.h"
#include "report/text_table.h"

namespace hifi {

namespace {

using Json = nlohmann::ordered_json;

// Three digits; powers of ten where a number is very small, as p-values are.
std::string number_text(double value) {
  if (value != 0 && std::abs(value) < 1e-4) return fmt::format("{:.2e}", value);
  return short_number(value, 3);
}

std::string cell_text(const ResultCell& cell) {
  if (!cell.value) return cell.text.empty() ? "–" : cell.text;
  return cell.spread ? fmt::format("{} ± {}", number_text(*cell.value), short_number(*cell.spread, 2))
                     : number_text(*cell.value);
}

Json cell_json(const ResultCell& cell) {
  if (!cell.value) return cell.text.empty() ? Json(nullptr) : Json(cell.text);
  return cell.spread ? Json({{"mean", *cell.value}, {"sd", *cell.spread}}) : Json(*cell.value);
}

bool has_spread(const ResultTable& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [&](const auto& row) { return row[column].spread.has_value(); });
}

// Lines of at most `width` characters, all indented; the following ones by `hanging` more.
std::string wrapped(const std::string& text, std::string indent, std::size_t width, std::size_t hanging = 0) {
  std::string lines;
  std::string line = indent;
  indent += std::string(hanging, ' ');
  bool first = true;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!first && line.size() + 1 + word.size() > width) {
      lines += line + "\n";
      line = indent;
      first = true;
    }
    line += (first ? "" : " ") + word;
    first = false;
    begin = end + 1;
  }
  return lines + line + "\n";
}

constexpr std::size_t kLine = 118;
constexpr std::size_t kSetupName = 9;  // lines of the setup begin with a name of so many characters

std::string table_text(const ResultTable& table) {
  TextRows rows = {table.columns};
  std::vector<bool> left;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    left.push_back(std::all_of(table.rows.begin(), table.rows.end(),
                               [&](const auto& row) { return !row[c].value && !row[c].text.empty(); }));
  }
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const ResultCell& cell : row) cells.push_back(cell_text(cell));
    rows.push_back(std::move(cells));
  }
  return table.title + "\n\n" + aligned(rows, left) +
         (table.note.empty() ? "" : "\n" + wrapped(table.note, "  ", kLine)) + "\n";
}

}  // namespace

ResultCell ResultCell::over(const std::vector<double>& repetitions) {
  if (repetitions.empty()) return {};
  const auto count = static_cast<double>(repetitions.size());
  double mean = 0, squares = 0;
  for (const double x : repetitions) mean += x / count;
  for (const double x : repetitions) squares += (x - mean) * (x - mean);
  if (repetitions.size() == 1) return mean;
  return {mean, std::sqrt(squares / (count - 1))};
}

std::string experiment_text(const ExperimentResult& result) {
  std::string text = result.title + "\n\n";
  for (const std::string& line : result.setup) text += wrapped(line, "  ", kLine, kSetupName);
  text += "\n";
  for (const ResultTable& table : result.tables) {
    if (table.printed) text += table_text(table);
  }
  text += "What to think of it\n\n";
  for (std::size_t k = 0; k < result.notes.size(); ++k) {
    std::string note = wrapped(result.notes[k], "     ", kLine);
    text += note.replace(0, 5, fmt::format("{:>3}. ", k + 1));
  }
  return text;
}

std::string experiment_json(const ExperimentResult& result, const ExperimentOptions& options) {
  Json tables = Json::array();
  for (const ResultTable& table : result.tables) {
    Json rows = Json::array();
    for (const auto& row : table.rows) {
      Json object = Json::object();
      for (std::size_t c = 0; c < row.size(); ++c) object[table.columns[c]] = cell_json(row[c]);
      rows.push_back(std::move(object));
    }
    tables.push_back({{"key", table.key},
                      {"title", table.title},
                      {"columns", table.columns},
                      {"rows", std::move(rows)},
                      {"note", table.note}});
  }
  const Json document = {{"schema", "hifi.reproduce/1"}, {"experiment", result.key},
                         {"title", result.title},        {"version", version()},
                         {"seed", options.seed},         {"seeds", options.seeds},
                         {"quick", options.quick},       {"setup", result.setup},
                         {"tables", std::move(tables)},  {"notes", result.notes}};
  return document.dump(1) + "\n";
}

std::string table_csv(const ResultTable& table) {
  std::string text;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const std::string name = csv_quoted(table.columns[c]);
    text += (c == 0 ? "" : ",") + name;
    if (has_spread(table, c)) text += "," + csv_quoted(table.columns[c] + ".sd");
  }
  text += "\n";
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c > 0) text += ",";
      text += row[c].value ? fmt::format("{}", *row[c].value) : csv_quoted(row[c].text);
      if (has_spread(table, c)) text += row[c].spread ? fmt::format(",{}", *row[c].spread) : ",";
    }
    text += "\n";
  }
  return text;
}

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = {
      {"e1", "three causal models whose truth is known, small networks, all indices beside U, R, S", run_e1},
      {"e2", "saliency maps of radiographs with known findings, judged beside GradCAM, gradients and RISE",
       run_e2},
      {"e3", "attention heads on the indirect-object task: a small model, or GPT-2-small with --model",
       run_e3}};
  return all;
}

}  // namespace hifi
