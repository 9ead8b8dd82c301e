// What an experiment says: tables of numbers, ours beside the paper's, and what to think of the differences.
// Terminal, CSV and JSON are written from the same cells.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/files.h"
#include "core/parallel.h"
#include "core/progress.h"

namespace hifi {

// A text, or a number and how much it varies between repetitions; empty: nothing was computed or given, or it
// is not finite.
struct ResultCell {
  std::string text;
  std::optional<double> value;
  std::optional<double> spread;  // standard deviation over repetitions

  ResultCell() = default;
  ResultCell(const char* words) : text(words) {}
  ResultCell(std::string words) : text(std::move(words)) {}
  ResultCell(double number) : value(std::isfinite(number) ? std::optional(number) : std::nullopt) {}
  ResultCell(std::optional<double> number) : value(number) {}
  ResultCell(double number, double deviation) : value(number), spread(deviation) {}
  // Mean and standard deviation; without a deviation if there is one number. Empty if there is none.
  static ResultCell over(const std::vector<double>& repetitions);
};

struct ResultTable {
  std::string key;  // its file is KEY.csv
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<ResultCell>> rows;
  std::string note;     // below the table
  bool printed = true;  // false: in the files only

  void add(std::vector<ResultCell> row) { rows.push_back(std::move(row)); }
};

struct ExperimentResult {
  std::string key;  // e1
  std::string title;
  std::vector<std::string> setup;
  std::vector<ResultTable> tables;
  std::vector<std::string> notes;
};

struct ExperimentOptions {
  std::uint64_t seed = 0;
  std::size_t seeds = 5;  // repetitions
  bool quick = false;     // a smaller experiment, for a look
  std::string model;      // e2: a file; e3: a folder of the hub; empty: what ships with hifi
  std::string nih;        // e2: folder of NIH ChestX-ray14 images and their boxes
  std::string layer;      // e2: of GradCAM
};

std::string experiment_text(const ExperimentResult& result);
// Schema hifi.reproduce/1.
std::string experiment_json(const ExperimentResult& result, const ExperimentOptions& options);
// A column with deviations has one beside it, NAME.sd.
std::string table_csv(const ResultTable& table);

// The experiments by name; one that is added here is known to `hifi reproduce`.
struct Experiment {
  std::string key;
  std::string about;
  std::function<ExperimentResult(const ExperimentOptions&, Workers&, Progress::Listener)> run;
};
const std::vector<Experiment>& experiments();

ExperimentResult run_e3(const ExperimentOptions& options, Workers& workers, Progress::Listener listener);
ExperimentResult run_e1(const ExperimentOptions& options, Workers& workers, Progress::Listener listener);
ExperimentResult run_e2(const ExperimentOptions& options, Workers& workers, Progress::Listener listener);

}  // namespace hifi
