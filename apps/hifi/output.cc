#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "audit/profile.h"
#include "command.h"
#include "core/files.h"
#include "hifi/error.h"
#include "report/circuit.h"
#include "report/profile_json.h"
#include "report/terminal.h"

namespace hifi::app {

namespace {

bool wants_colour() { return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr; }

std::string clock_text(double seconds) {
  const auto total = static_cast<long>(std::lround(seconds));
  return total >= 3600 ? fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60)
                       : fmt::format("{}:{:02}", total / 60, total % 60);
}

}  // namespace

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw input_error("standard output: cannot be written");
  }
}

void Output::add_to(CLI::App& verb) {
  verb.add_option("--json", json, "Write the profile as JSON to FILE, or - for standard output")
      ->type_name("FILE|-");
  verb.add_option("--csv", csv, "Write features.csv and pairs.csv into this folder")->type_name("DIR");
  verb.add_option("--pairs", pairs, "Which pairs to list: all, none, top:K or with:NAME")->type_name("WHICH");
  verb.add_option("--threads", threads, "Threads (default: one per core)")->check(CLI::Range(1, 1024));
  auto* be_quiet = verb.add_flag("--quiet", quiet, "No plan, no progress, no table");
  verb.add_flag("--verbose", verbose, "Tell more about the run")->excludes(be_quiet);
}

void Output::check() const {
  if (!pairs.starts_with("with:")) parse_pairs(pairs, {});  // else the players must be known
  if (!json.empty() && json != "-") check_writable(json);
  if (csv.empty()) return;
  std::error_code ignored;
  if (!std::filesystem::is_directory(csv, ignored)) {
    throw input_error(fmt::format("--csv {}: there is no such folder", csv), "make it first");
  }
  for (const char* name : {"features.csv", "pairs.csv"}) check_writable(csv_file(name));
}

std::string Output::csv_file(const char* name) const { return (std::filesystem::path(csv) / name).string(); }

void Output::write(const Profile& profile, const Appendix& appendix) const {
  std::vector<NewFile> files;
  if (!csv.empty()) {
    ProfileCsv tables = profile_csv(profile);
    files.push_back({csv_file("features.csv"), std::move(tables.features)});
    files.push_back({csv_file("pairs.csv"), std::move(tables.pairs)});
  }
  std::string text;
  if (!json.empty()) text = profile_json(profile);
  const std::optional<Circuit> circuit = circuit_of(profile);
  if (circuit && !json.empty()) {
    auto document = nlohmann::ordered_json::parse(text);
    document["circuit"] = nlohmann::ordered_json::parse(circuit_json(profile, *circuit));
    text = document.dump(1) + "\n";
  }
  if (!json.empty() && !appendix.fields.empty()) {
    auto document = nlohmann::ordered_json::parse(text);
    for (const auto& [name, value] : appendix.fields) document[name] = nlohmann::ordered_json::parse(value);
    text = document.dump(1) + "\n";
  }
  if (!json.empty() && json != "-") files.push_back({json, text});
  write_files(files);
  if (json == "-") return print(text);
  if (!quiet) {
    print(profile_text(profile, {.colour = wants_colour()}) +
          (circuit ? circuit_text(profile, *circuit) : "") + appendix.text);
  }
}

void Output::say(const std::string& line) const {
  if (!quiet) fmt::print(stderr, "{}\n", line);
}

Progress::Listener Output::progress() const {
  if (quiet || isatty(STDERR_FILENO) == 0) return {};
  return [](const ProgressReport& report) {
    constexpr int kCells = 30;
    const double share =
        report.total == 0 ? 1 : static_cast<double>(report.done) / static_cast<double>(report.total);
    std::string bar;
    for (int k = 0; k < kCells; ++k) bar += k < share * kCells ? "█" : "·";
    fmt::print(stderr, "\r{} {:3.0f} %  {:.3g} evaluations/s  {} left \x1b[K{}", bar, 100 * share,
               report.rate, report.remaining_seconds < 0 ? "?" : clock_text(report.remaining_seconds),
               report.done == report.total ? "\r\x1b[K" : "");
    std::fflush(stderr);
  };
}

std::vector<std::string> split_list(const std::string& option, const std::string& text) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, comma - begin));
    if (parts.back().empty())
      throw Error(ErrorCode::usage, fmt::format("{} {}: a name is empty", option, text));
    if (std::find(parts.begin(), parts.end() - 1, parts.back()) != parts.end() - 1) {
      throw Error(ErrorCode::usage, fmt::format("{} {}: \"{}\" is there twice", option, text, parts.back()));
    }
    begin = comma + 1;
  }
  return parts;
}

CLI::Validator whole_number() {
  return CLI::Validator(
      [](const std::string& text) -> std::string {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool good = error == std::errc() && end == text.data() + text.size();
        return good ? "" : fmt::format("{} is not a whole number from 0 to 2^64 - 1", text);
      },
      "");
}

std::uint64_t parse_bytes(const std::string& option, const std::string& text) {
  std::size_t used = 0;
  double value = -1;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
  }
  static const std::string kUnits = "KMGT";
  int power = 0;
  if (used < text.size()) {
    const auto unit = kUnits.find(static_cast<char>(std::toupper(text[used])));
    power = unit == std::string::npos ? -1 : static_cast<int>(unit) + 1;
    ++used;
    if (used < text.size() && (text.substr(used) == "B" || text.substr(used) == "iB")) used = text.size();
  }
  const double bytes = value * std::pow(1024.0, power);
  if (!(value > 0) || power < 0 || used != text.size() || !(bytes < 1e18)) {
    throw Error(ErrorCode::usage, fmt::format("{} {}: must be a size like 4G or 512M", option, text));
  }
  return static_cast<std::uint64_t>(bytes);
}

std::string human_seconds(double seconds) {
  if (seconds < 100) return fmt::format("{:.2g} s", seconds);
  if (seconds < 100 * 60) return fmt::format("{:.0f} minutes", seconds / 60);
  if (seconds < 72 * 3600) return fmt::format("{:.0f} hours", seconds / 3600);
  return fmt::format("{:.0f} days", seconds / 86400);
}

std::string shell_quote(const std::string& word) {
  const char* const kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace hifi::app
