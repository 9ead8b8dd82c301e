// A model, seen from outside: rows in, numbers out.
//
// Batch first, row-major. `predict` is a pure function of the rows and may be called from several
// threads at once.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/table.h"

namespace hifi {

// What an input column may hold, for models that do not take every number.
struct Accepts {
  std::string type;  // in the owner's words: "INT64"
  double low = 0, high = 0;
  bool whole = false;    // no fractions
  bool missing = false;  // missing values, too

  bool takes(double value) const {
    return std::isnan(value) ? missing
                             : value >= low && value <= high && (!whole || value == std::floor(value));
  }
};

enum class Task { unknown, regression, classification };

struct ModelInfo {
  std::string path;       // as given
  std::string format;     // "xgboost-json", "xgboost-ubj", "process", "served"
  std::string hash;       // of the artefact, hexadecimal
  std::string objective;  // in the owner's words, may be empty
  Task task = Task::unknown;
  std::size_t width = 0;             // columns of an input row
  std::vector<std::string> columns;  // their names, empty if the model has none
  // Categories of each input column, in code order (empty vector: a plain number). Empty if no column has
  // any.
  std::vector<std::vector<std::string>> categories;
  std::vector<Accepts> accepts;     // of each column; empty: every number, missing or not
  std::size_t outputs = 1;          // numbers per row: 1, or one probability per class
  std::vector<std::string> labels;  // class labels that the model carries, else empty
  // Contexts whose value lies within this share of max|L| of the extremum count as ties.
  double tie_tolerance = 5e-5;
  std::size_t batch_rows = 4096;  // rows per call that suit this model
  // Of backends that are libraries: which one, its arithmetic, the rows of its runs (the rest is padded),
  // and what a reader should know.
  std::string library;
  std::string precision;
  std::size_t run_rows = 0;
  std::vector<std::string> notes;
  std::uint64_t bytes = 0;  // memory that it needs, about
  bool splits_batches = false;    // cuts a call into requests of ModelOptions::batch rows by itself
};

class Model {
 public:
  virtual ~Model() = default;
  virtual const ModelInfo& info() const = 0;
  // rows: count x info().width; missing values are NaN, categories are their codes.
  // out: count x info().outputs. Throws Error(model) when the model fails.
  virtual void predict(std::span<const double> rows, std::size_t count, std::span<double> out) const = 0;
};

// What the user says about a model beyond its name.
struct ModelOptions {
  std::string output;  // which of several outputs, by name or by index from 0; empty: the format's own choice
  std::string link;    // empty, softmax or sigmoid: what will turn the output into probabilities
  std::optional<std::size_t> batch;  // rows per call, if the user says so
  std::size_t features = 0;  // columns named by the user, for models that do not say how many they read
  std::uint64_t max_memory = 0;  // bytes that a call may need; 0: no limit
};

// Opens a model by content, then suffix; `process:CMD` and served models need the columns that
// they will be sent.
// Throws Error(input) if the file is missing, broken, of an unknown kind, or uses something that is not
// supported.
std::unique_ptr<Model> open_model(const std::string& spec, const std::vector<Column>& process_columns,
                                  const ModelOptions& options = {});

}  // namespace hifi
