// predict_model MODEL ROWS.csv [REPEATS [OUTPUT]]: prints a model's outputs for rows of plain numbers (no header;
// empty or nan is missing), one line per row, so that Python tests can compare them with the owner's. With
// REPEATS above 0 it prints instead the seconds of the fastest of so many calls.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "hifi/error.h"
#include "model/model.h"

namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw hifi::input_error(path + ": cannot be opened");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<double> read_rows(const std::string& path) {
  std::istringstream lines(read_file(path));
  std::vector<double> values;
  for (std::string line; std::getline(lines, line);) {
    line += ',';
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) {
      const bool missing = cell.empty() || cell == "nan";
      values.push_back(missing ? std::numeric_limits<double>::quiet_NaN()
                               : std::strtod(cell.c_str(), nullptr));
    }
  }
  return values;
}

void run(int argc, char** argv) {
  if (argc < 3) throw hifi::input_error("usage: predict_model MODEL ROWS.csv [REPEATS [OUTPUT]]");
  const std::vector<double> rows = read_rows(argv[2]);
  const std::string text = read_file(argv[2]);
  // Some models do not say how wide their input is.
  const auto width = 1 + std::count(text.begin(), std::find(text.begin(), text.end(), '\n'), ',');
  const std::vector<hifi::Column> columns(static_cast<std::size_t>(width));
  const auto model = hifi::open_model(argv[1], columns, {.output = argc > 4 ? argv[4] : ""});
  const auto& info = model->info();
  const std::size_t count = rows.size() / info.width;
  std::vector<double> out(count * info.outputs);
  model->predict(rows, count, out);
  const int repeats = argc > 3 ? std::atoi(argv[3]) : 0;
  if (repeats > 0) {
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < repeats; ++i) {
      const auto start = std::chrono::steady_clock::now();
      model->predict(rows, count, out);
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    fmt::print("{}\n", best);
    return;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    fmt::print("{:.17g}{}", out[i], (i + 1) % info.outputs == 0 ? '\n' : ',');
  }
}

}  // namespace

int main(int argc, char** argv) try {
  run(argc, argv);
  return 0;
} catch (const hifi::Error& error) {
  std::cerr << error.what() << "\n" << error.hint() << "\n";
  return static_cast<int>(error.code());
}
