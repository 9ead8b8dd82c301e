#include "vocabulary/run_file.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <new>
#include <utility>

#include "core/hash.h"
#include "hifi/error.h"

namespace hifi {

namespace {

constexpr int kApplicationId = 0x48694669;  // "HiFi"
constexpr int kSchemaVersion = 2;
constexpr std::size_t kChunk = 65'536;

constexpr const char* kSchema = R"(
  CREATE TABLE texts (key TEXT PRIMARY KEY, value TEXT NOT NULL, hash TEXT NOT NULL);
  CREATE TABLE arrays (partition TEXT NOT NULL, block INTEGER NOT NULL, chunk INTEGER NOT NULL,
                       hash TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (partition, block, chunk));
  CREATE TABLE cells (phase INTEGER NOT NULL, position INTEGER NOT NULL, coalition TEXT NOT NULL,
                      hash TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (phase, position));
  CREATE TABLE log (id INTEGER PRIMARY KEY, message TEXT NOT NULL);
)";

[[noreturn]] void fail(const std::string& path, sqlite3* db) {
  const int code = db == nullptr ? SQLITE_NOMEM : sqlite3_extended_errcode(db);
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw input_error(fmt::format("{}: another process is using it", path));
    case SQLITE_NOTADB:
      throw input_error(fmt::format("{}: not a run file of hifi", path));
    case SQLITE_CORRUPT:
      throw input_error(fmt::format("{}: the run file is damaged", path), "compute it again");
    case SQLITE_FULL:
      throw Error(ErrorCode::interrupted, fmt::format("{}: the disk is full", path), "make room");
    default:
      throw input_error(fmt::format("{}: {}", path, db == nullptr ? "out of memory" : sqlite3_errmsg(db)));
  }
}

void execute(const std::string& path, sqlite3* db, const char* sql) {
  if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail(path, db);
}

// A prepared statement with its values bound in order.
class Statement {
 public:
  Statement(const std::string& path, sqlite3* db, const char* sql) : path_(path), db_(db) {
    if (sqlite3_prepare_v2(db, sql, -1, &statement_, nullptr) != SQLITE_OK) fail(path, db);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(const std::string& text) {
    return check(
        sqlite3_bind_text64(statement_, ++bound_, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  }
  Statement& bind(std::size_t number) {
    return check(sqlite3_bind_int64(statement_, ++bound_, static_cast<sqlite3_int64>(number)));
  }
  Statement& bind(std::span<const double> values) {
    return check(
        sqlite3_bind_blob64(statement_, ++bound_, values.data(), values.size_bytes(), SQLITE_STATIC));
  }
  // True if there is a row.
  bool step() {
    const int result = sqlite3_step(statement_);
    if (result == SQLITE_ROW) return true;
    if (result != SQLITE_DONE) fail(path_, db_);
    return false;
  }
  std::string text(int column) {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    if (bytes == nullptr) return "";
    return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
  }
  std::int64_t number(int column) { return sqlite3_column_int64(statement_, column); }
  std::size_t blob_bytes(int column) {
    return static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  }
  bool copy_blob(int column, std::span<double> out) {
    const void* bytes = sqlite3_column_blob(statement_, column);
    if (static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)) != out.size_bytes()) return false;
    std::memcpy(out.data(), bytes, out.size_bytes());  // SQLite's pointer is not aligned for doubles
    return true;
  }

 private:
  Statement& check(int result) {
    if (result != SQLITE_OK) fail(path_, db_);
    return *this;
  }

  const std::string& path_;
  sqlite3* db_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

std::string hash_of(std::span<const double> values) {
  return hex_hash({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

// The name belongs to the numbers: those of one coalition must not pass for those of another.
std::string hash_of(const std::string& coalition, std::span<const double> values) {
  std::string bytes = coalition;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return hex_hash(bytes);
}

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

int pragma(const std::string& path, sqlite3* db, const char* sql) {
  Statement statement(path, db, sql);
  return statement.step() ? static_cast<int>(statement.number(0)) : 0;
}

sqlite3* open_database(const std::string& path, int flags) {
  sqlite3* db = nullptr;
  // Names like ":memory:" mean something to SQLite, "./:memory:" does not.
  const std::string plain = path.starts_with('/') ? path : "./" + path;
  if (sqlite3_open_v2(plain.c_str(), &db, flags, nullptr) != SQLITE_OK) {
    const std::string reason = db == nullptr ? "out of memory" : sqlite3_errmsg(db);
    sqlite3_close(db);
    throw input_error(fmt::format("{}: {}", path, reason));
  }
  sqlite3_extended_result_codes(db, 1);
  sqlite3_busy_timeout(db, 1000);
  // Nothing in the file may run code or reach outside of it.
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
  return db;
}

// Everything the database declares.
std::string schema_of(const std::string& path, sqlite3* db) {
  Statement statement(path, db, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name");
  std::string text;
  while (statement.step()) {
    for (int column = 0; column < 4; ++column) text += statement.text(column) + '\n';
  }
  return text;
}

std::string expected_schema() {
  sqlite3* db = nullptr;
  const int result = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> owner(db, sqlite3_close);
  if (result != SQLITE_OK) throw std::bad_alloc();
  execute(":memory:", db, kSchema);
  return schema_of(":memory:", db);
}

}  // namespace

void RunFile::Close::operator()(sqlite3* db) const { sqlite3_close(db); }

RunFile::RunFile(std::string path, std::unique_ptr<sqlite3, Close> db)
    : path_(std::move(path)), db_(std::move(db)) {}
RunFile::RunFile(RunFile&&) noexcept = default;
RunFile& RunFile::operator=(RunFile&&) noexcept = default;
RunFile::~RunFile() = default;

RunFile RunFile::create(const std::string& path, const std::string& plan) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    throw input_error(fmt::format("{}: exists already", path),
                      "continue it with `hifi resume`, or remove it, or choose another name");
  }
  try {
    RunFile file(path, std::unique_ptr<sqlite3, Close>(
                           open_database(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)));
    execute(path, file.db_.get(), "PRAGMA locking_mode = EXCLUSIVE");
    file.commit([&] {
      execute(path, file.db_.get(), kSchema);
      execute(
          path, file.db_.get(),
          fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kSchemaVersion)
              .c_str());
      file.put_text("plan", plan);
    });
    return file;
  } catch (const Error& error) {
    discard(path);
    throw input_error(error.what(), error.hint());  // nothing was computed that could be resumed
  }
}

void RunFile::discard(const std::string& path) {
  std::error_code ignored;
  for (const char* suffix : {"", "-journal"}) std::filesystem::remove(path + suffix, ignored);
}

RunFile RunFile::open(const std::string& path, Mode mode) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw input_error(fmt::format("{}: {}", path, error ? error.message() : "No such file or directory"));
  }
  if (std::filesystem::is_directory(status)) throw input_error(fmt::format("{}: is a directory", path));
  if (!std::filesystem::is_regular_file(status)) throw input_error(fmt::format("{}: is not a file", path));
  // A reader opens for writing too: after a kill, the journal beside the file must be rolled back.
  RunFile file(path, std::unique_ptr<sqlite3, Close>(open_database(path, SQLITE_OPEN_READWRITE)));
  sqlite3* db = file.db_.get();
  if (mode == Mode::write) execute(path, db, "PRAGMA locking_mode = EXCLUSIVE");
  execute(path, db, "PRAGMA cell_size_check = ON");
  if (pragma(path, db, "PRAGMA application_id") != kApplicationId) {
    throw input_error(fmt::format("{}: not a run file of hifi", path));
  }
  const int version = pragma(path, db, "PRAGMA user_version");
  if (version > kSchemaVersion) {
    throw input_error(fmt::format("{}: schema {} is newer than this hifi, which reads up to {}", path,
                                  version, kSchemaVersion),
                      "install a newer hifi");
  }
  // Nothing but our own tables: no view, trigger or virtual table under their names.
  if (version == 1) {
    throw input_error(
        fmt::format("{}: schema 1 is of an older hifi, this one reads {}", path, kSchemaVersion),
        "compute it again");
  }
  if (version < 1 || schema_of(path, db) != expected_schema()) {
    throw input_error(fmt::format("{}: not a run file of hifi: its tables are not ours", path));
  }
  if (mode == Mode::read) return file;
  if (sqlite3_db_readonly(db, "main") == 1) throw input_error(fmt::format("{}: cannot be written", path));
  execute(path, db, "BEGIN EXCLUSIVE; COMMIT");
  return file;
}

void RunFile::commit(const std::function<void()>& body) {
  execute(path_, db_.get(), "BEGIN IMMEDIATE");
  try {
    body();
    execute(path_, db_.get(), "COMMIT");
  } catch (...) {
    sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

void RunFile::put_text(const std::string& key, const std::string& value) {
  Statement(path_, db_.get(), "INSERT OR REPLACE INTO texts VALUES (?, ?, ?)")
      .bind(key)
      .bind(value)
      .bind(hex_hash(value))
      .step();
}

std::optional<std::string> RunFile::text(const std::string& key) const {
  Statement statement(path_, db_.get(), "SELECT value, hash FROM texts WHERE key = ?");
  if (!statement.bind(key).step()) return std::nullopt;
  std::string value = statement.text(0);
  if (statement.text(1) != hex_hash(value)) damaged(fmt::format("text {}", key), "not what was written");
  return value;
}

void RunFile::put_array(const std::string& partition, std::size_t block, std::span<const double> values) {
  for (std::size_t chunk = 0; chunk * kChunk < values.size(); ++chunk) {
    const std::size_t begin = chunk * kChunk;
    const auto part = values.subspan(begin, std::min(kChunk, values.size() - begin));
    Statement(path_, db_.get(), "INSERT OR REPLACE INTO arrays VALUES (?, ?, ?, ?, ?)")
        .bind(partition)
        .bind(block)
        .bind(chunk)
        .bind(hash_of(part))
        .bind(part)
        .step();
  }
}

void RunFile::read_array(const std::string& partition, std::size_t block, std::span<double> values) const {
  for (std::size_t chunk = 0; chunk * kChunk < values.size(); ++chunk) {
    const std::size_t begin = chunk * kChunk;
    const auto part = values.subspan(begin, std::min(kChunk, values.size() - begin));
    const auto name = [&] { return fmt::format("array {}/{}/{}", partition, block, chunk); };
    Statement statement(path_, db_.get(),
                        "SELECT data, hash FROM arrays WHERE partition = ? AND block = ? AND chunk = ?");
    if (!statement.bind(partition).bind(block).bind(chunk).step()) damaged(name(), "missing");
    if (!statement.copy_blob(0, part)) damaged(name(), "of the wrong size");
    if (statement.text(1) != hash_of(part)) damaged(name(), "not what was written");
    if (!all_finite(part)) damaged(name(), "not all numbers");
  }
}

void RunFile::require_arrays(const std::string& partition, std::size_t arrays, std::size_t size) const {
  Statement statement(path_, db_.get(),
                      "SELECT count(*), coalesce(sum(length(data)), 0) FROM arrays WHERE partition = ?");
  statement.bind(partition).step();
  const auto chunks = static_cast<std::size_t>(statement.number(0));
  const auto bytes = static_cast<std::size_t>(statement.number(1));
  if (chunks != arrays * ((size + kChunk - 1) / kChunk) || bytes != arrays * size * sizeof(double)) {
    damaged(fmt::format("array {}", partition), "missing or of the wrong size");
  }
}

void RunFile::damaged(const std::string& part, const char* what) const {
  throw input_error(fmt::format("{}: {} is {}", path_, part, what),
                    "the run file is damaged; compute it again");
}

void RunFile::drop_arrays(const std::string& partition) {
  Statement(path_, db_.get(), "DELETE FROM arrays WHERE partition = ?").bind(partition).step();
}

void RunFile::put_cell(std::size_t phase, std::size_t position, const Coalition& coalition,
                       std::span<const double> values) {
  const std::string bits = coalition.to_string();
  Statement(path_, db_.get(), "INSERT INTO cells VALUES (?, ?, ?, ?, ?)")
      .bind(phase)
      .bind(position)
      .bind(bits)
      .bind(hash_of(bits, values))
      .bind(values)
      .step();
}

void RunFile::for_each_cell(std::size_t phase, std::size_t players, std::size_t width,
                            const TakeCell& take) const {
  Statement statement(path_, db_.get(),
                      "SELECT position, coalition, hash, data FROM cells WHERE phase = ? ORDER BY position");
  statement.bind(phase);
  std::vector<double> values(width);
  for (std::size_t position = 0; statement.step(); ++position) {
    const auto name = [&] { return fmt::format("cell {}/{}", phase, position); };
    if (static_cast<std::size_t>(statement.number(0)) != position) damaged(name(), "missing");
    const std::string bits = statement.text(1);
    if (bits.size() != players || bits.find_first_not_of("01") != std::string::npos)
      damaged(name(), "of no coalition of the players");
    if (!statement.copy_blob(3, values)) damaged(name(), "of the wrong size");
    if (statement.text(2) != hash_of(bits, values)) damaged(name(), "not what was written");
    if (!all_finite(values)) damaged(name(), "not all numbers");
    take(Coalition::from_string(bits), values);
  }
}

bool RunFile::has_cells() const { return Statement(path_, db_.get(), "SELECT 1 FROM cells LIMIT 1").step(); }

std::size_t RunFile::copy_cells(const RunFile& from, std::size_t phase) {
  Statement statement(from.path_, from.db_.get(),
                      "SELECT position, coalition, hash, data FROM cells WHERE phase = ? ORDER BY position");
  statement.bind(phase);
  std::size_t position = 0;
  for (std::vector<double> values; statement.step(); ++position) {
    const auto name = [&] { return fmt::format("cell {}/{}", phase, position); };
    if (static_cast<std::size_t>(statement.number(0)) != position) from.damaged(name(), "missing");
    values.resize(statement.blob_bytes(3) / sizeof(double));
    if (!statement.copy_blob(3, values)) from.damaged(name(), "of the wrong size");
    const std::string bits = statement.text(1);
    if (statement.text(2) != hash_of(bits, values)) from.damaged(name(), "not what was written");
    Statement(path_, db_.get(), "INSERT INTO cells VALUES (?, ?, ?, ?, ?)")
        .bind(phase)
        .bind(position)
        .bind(bits)
        .bind(statement.text(2))
        .bind(values)
        .step();
  }
  return position;
}

void RunFile::log(const std::string& message) {
  Statement(path_, db_.get(), "INSERT INTO log (message) VALUES (?)").bind(message).step();
}

std::vector<std::string> RunFile::log_lines() const {
  Statement statement(path_, db_.get(), "SELECT message FROM log ORDER BY id");
  std::vector<std::string> lines;
  while (statement.step()) lines.push_back(statement.text(0));
  return lines;
}

}  // namespace hifi
