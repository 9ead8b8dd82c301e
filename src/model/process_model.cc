#include "model/process_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "core/hash.h"
#include "data/text_column.h"
#include "hifi/error.h"
#include "model/child_process.h"

namespace hifi {

namespace {

constexpr double kProbeSeconds = 30;
constexpr double kBatchSeconds = 600;
// Beyond these a program prints without end.
constexpr std::size_t kProbeBytes = 1 << 20;
constexpr std::size_t kBytesPerNumber = 64;

double limit(double otherwise) {
  const char* text = std::getenv("HIFI_PROCESS_TIMEOUT");
  const double seconds = text == nullptr ? 0 : std::strtod(text, nullptr);
  return seconds > 0 ? seconds : otherwise;
}

void append_text(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

class ProcessModel : public Model {
 public:
  ProcessModel(const std::string& command, const std::vector<Column>& columns) : command_(command) {
    info_.path = "process:" + command;
    info_.format = "process";
    info_.hash = hex_hash(command);
    info_.tie_tolerance = 1e-9;
    info_.batch_rows = 100'000;
    info_.width = columns.size();
    std::vector<double> probe;
    for (const Column& column : columns) {
      header_ += info_.columns.empty() ? "" : ",";
      info_.columns.push_back(column.name);
      append_text(header_, column.name);
      types_.push_back(column.type);
      info_.categories.push_back(column.dictionary);
      probe.push_back(column.values.at(0));
    }
    header_ += '\n';
    const std::string answer = run_child(command_, table(probe, 1), limit(kProbeSeconds), kProbeBytes);
    const std::string_view line = std::string_view(answer).substr(0, answer.find('\n'));
    info_.outputs = static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')) + 1;
    if (info_.outputs > 1) info_.task = Task::classification;
    std::vector<double> out(info_.outputs);
    parse(answer, 1, out);
  }

  const ModelInfo& info() const override { return info_; }

  void predict(std::span<const double> rows, std::size_t count, std::span<double> out) const override {
    if (count == 0) return;
    const std::size_t most = kProbeBytes + kBytesPerNumber * count * info_.outputs;
    parse(run_child(command_, table(rows, count), limit(kBatchSeconds), most), count, out);
  }

 private:
  std::string table(std::span<const double> rows, std::size_t count) const {
    std::string text = header_;
    text.reserve(header_.size() + rows.size() * 12);
    for (std::size_t row = 0; row < count; ++row) {
      for (std::size_t c = 0; c < info_.width; ++c) {
        if (c > 0) text += ',';
        append_value(text, c, rows[row * info_.width + c]);
      }
      text += '\n';
    }
    return text;
  }

  void append_value(std::string& text, std::size_t column, double value) const {
    if (std::isnan(value)) {
      if (info_.width == 1) text += "\"\"";  // a blank line would be skipped by most readers
      return;
    }
    if (types_[column] == ColumnType::text) {
      append_text(text, info_.categories[column][static_cast<std::size_t>(value)]);
    } else if (types_[column] == ColumnType::boolean && (value == 0 || value == 1)) {
      text += value == 1 ? "true" : "false";
    } else {
      fmt::format_to(std::back_inserter(text), "{}", value);  // the shortest text that reads back
    }
  }

  void parse(std::string_view answer, std::size_t count, std::span<double> out) const {
    std::size_t row = 0;
    while (!answer.empty()) {
      const auto end = answer.find('\n');
      std::string_view line = answer.substr(0, end);
      answer.remove_prefix(end == std::string_view::npos ? answer.size() : end + 1);
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      if (line.find_first_not_of(" \t") == std::string_view::npos && answer.empty()) break;
      if (row == count) fail(fmt::format("printed more than the {} lines for {} rows", count, count));
      parse_line(line, row, out.subspan(row * info_.outputs, info_.outputs));
      ++row;
    }
    if (row < count) fail(fmt::format("printed {} lines for {} rows", row, count));
  }

  void parse_line(std::string_view line, std::size_t row, std::span<double> out) const {
    const std::string_view whole = line;
    for (std::size_t k = 0; k < out.size(); ++k) {
      line.remove_prefix(std::min(line.find_first_not_of(" \t+"), line.size()));
      const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), out[k]);
      line.remove_prefix(static_cast<std::size_t>(end - line.data()));
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      const bool last = k + 1 == out.size();
      if (error != std::errc() || (last ? !line.empty() : line.empty() || line[0] != ',')) {
        fail(fmt::format("line {} is \"{}\", not {}", row + 1, one_line(whole, 60),
                         out.size() == 1 ? "one number" : fmt::format("{} numbers", out.size())));
      }
      if (!std::isfinite(out[k])) fail(fmt::format("line {} is \"{}\"", row + 1, one_line(whole, 60)));
      if (!last) line.remove_prefix(1);
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw model_error(fmt::format("process:{}: {}", command_, what),
                      "it must print one line per row: a number, or comma-separated class probabilities");
  }

  std::string command_;
  ModelInfo info_;
  std::string header_;
  std::vector<ColumnType> types_;
};

}  // namespace

std::unique_ptr<Model> open_process(const std::string& command, const std::vector<Column>& columns) {
  return std::make_unique<ProcessModel>(command, columns);
}

}  // namespace hifi
