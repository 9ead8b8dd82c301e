// The run file: one SQLite database that holds the plan, what has been computed, and a log.
// docs/run_file.md describes the schema. The file may come from a stranger: it is opened defensively and
// every size is checked against the plan before it is used.
//
// Not thread-safe. Every change goes through `commit`, which is atomic: a kill leaves the state before or
// after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hifi/coalition.h"

struct sqlite3;

namespace hifi {

class RunFile {
 public:
  enum class Mode { read, write };

  // A new file with its plan (JSON text). Throws Error(input) if the path exists or cannot be created;
  // nothing is left then.
  static RunFile create(const std::string& path, const std::string& plan);
  // Removes a run file and what SQLite keeps beside it. REQUIRES: it is not open
  static void discard(const std::string& path);
  // Throws Error(input): missing, no run file, of a newer version, damaged, in use by another process.
  static RunFile open(const std::string& path, Mode mode);

  RunFile(RunFile&&) noexcept;
  RunFile& operator=(RunFile&&) noexcept;
  ~RunFile();

  const std::string& path() const { return path_; }

  // Runs `body` in one transaction. Throws Error(interrupted) if the disk is full: the state before is kept.
  void commit(const std::function<void()>& body);

  // Small texts: the plan, the position.
  void put_text(const std::string& key, const std::string& value);
  std::optional<std::string> text(const std::string& key) const;

  // Arrays of one number per coalition, stored in chunks of 65,536 coalitions.
  void put_array(const std::string& partition, std::size_t block, std::span<const double> values);
  // Throws Error(input) if it is absent, of another size, or not what was written.
  void read_array(const std::string& partition, std::size_t block, std::span<double> values) const;
  // Throws Error(input) unless the partition holds so many arrays of this size: asked before memory is taken
  // for them, because the plan may claim anything.
  void require_arrays(const std::string& partition, std::size_t arrays, std::size_t size) const;
  void drop_arrays(const std::string& partition);

  // Cells: numbers of one coalition each, in the order in which they were added. `phase` keeps those of
  // different draws apart.
  void put_cell(std::size_t phase, std::size_t position, const Coalition& coalition,
                std::span<const double> values);
  // Calls `take` with every cell of a phase, in order. Throws Error(input) if a cell is not of `players`
  // players and `width` numbers, is not what was written, or one is missing.
  using TakeCell = std::function<void(const Coalition&, std::span<const double>)>;
  void for_each_cell(std::size_t phase, std::size_t players, std::size_t width, const TakeCell& take) const;

  // True if there is any cell.
  bool has_cells() const;
  // The cells of a phase of another file, whatever their players and width; returns how many. Throws
  // Error(input) if one is not what was written.
  std::size_t copy_cells(const RunFile& from, std::size_t phase);

  void log(const std::string& message);
  std::vector<std::string> log_lines() const;

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  RunFile(std::string path, std::unique_ptr<sqlite3, Close> db);
  [[noreturn]] void damaged(const std::string& part, const char* what) const;

  std::string path_;
  std::unique_ptr<sqlite3, Close> db_;
};

}  // namespace hifi
