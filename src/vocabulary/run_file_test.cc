#include "vocabulary/run_file.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <numeric>

#include "core/test_folder.h"

namespace hifi {
namespace {

using Mode = RunFile::Mode;

std::vector<double> ramp(std::size_t size, double start = 0) {
  std::vector<double> values(size);
  std::iota(values.begin(), values.end(), start);
  return values;
}

std::vector<double> read(const RunFile& file, const std::string& partition, std::size_t block,
                         std::size_t size) {
  std::vector<double> values(size);
  file.read_array(partition, block, values);
  return values;
}

void sql(const std::string& path, const std::string& statements) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  char* message = nullptr;
  ASSERT_EQ(sqlite3_exec(db, statements.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
  sqlite3_close(db);
}

std::string open_error(const std::string& path, Mode mode = Mode::read) {
  return error_of([&] {
    const RunFile file = RunFile::open(path, mode);
    file.text("plan");
  });
}

// A file with a plan, a text and an array of `size`.
std::string make(const TemporaryFolder& folder, std::size_t size = 100) {
  const std::string path = folder.path("run.hifi");
  RunFile file = RunFile::create(path, "{\"a\":1}");
  file.commit([&] {
    file.put_text("position", "here");
    file.put_array("sums", 0, ramp(size));
    file.put_array("sums", 1, ramp(size, 7));
    file.log("first");
    file.log("second");
  });
  return path;
}

TEST(RunFile, RoundTrip) {
  const TemporaryFolder folder;
  const std::size_t size = 2 * 65'536 + 3;
  const std::string path = make(folder, size);
  EXPECT_EQ(folder.entries(), 1U) << "a closed file stands alone";
  for (const Mode mode : {Mode::read, Mode::write}) {
    const RunFile file = RunFile::open(path, mode);
    EXPECT_EQ(file.text("plan"), "{\"a\":1}");
    EXPECT_EQ(file.text("position"), "here");
    EXPECT_EQ(file.text("nothing"), std::nullopt);
    EXPECT_EQ(read(file, "sums", 0, size), ramp(size));
    EXPECT_EQ(read(file, "sums", 1, size), ramp(size, 7));
    EXPECT_EQ(file.log_lines(), (std::vector<std::string>{"first", "second"}));
  }
}

TEST(RunFile, ReplacesAndDrops) {
  const TemporaryFolder folder;
  const std::string path = make(folder);
  RunFile file = RunFile::open(path, Mode::write);
  file.commit([&] {
    file.put_array("sums", 0, ramp(100, -5));
    file.put_text("position", "there");
    file.put_array("tile 3", 0, ramp(4));
    file.put_array("tile 4", 0, ramp(4));
    file.drop_arrays("tile 3");
  });
  EXPECT_EQ(read(file, "sums", 0, 100), ramp(100, -5));
  EXPECT_EQ(file.text("position"), "there");
  EXPECT_EQ(read(file, "tile 4", 0, 4), ramp(4));
  EXPECT_TRUE(contains(error_of([&] { read(file, "tile 3", 0, 4); }), "array tile 3/0/0 is missing"));
}

TEST(RunFile, ATransactionIsAllOrNothing) {
  const TemporaryFolder folder;
  const std::string path = make(folder);
  RunFile file = RunFile::open(path, Mode::write);
  EXPECT_THROW(file.commit([&] {
    file.put_text("position", "there");
    file.put_array("sums", 0, ramp(100, 9));
    throw std::runtime_error("no");
  }),
               std::runtime_error);
  EXPECT_EQ(file.text("position"), "here");
  EXPECT_EQ(read(file, "sums", 0, 100), ramp(100));
  file.commit([&] { file.put_text("position", "there"); });
  EXPECT_EQ(file.text("position"), "there");
}

TEST(RunFile, SizesAreCheckedBeforeMemoryIsTaken) {
  const TemporaryFolder folder;
  const RunFile file = RunFile::open(make(folder), Mode::read);
  file.require_arrays("sums", 2, 100);
  file.require_arrays("absent", 0, 100);
  const auto lacking = [&](const char* partition, std::size_t arrays, std::size_t size) {
    return error_of([&] { file.require_arrays(partition, arrays, size); });
  };
  EXPECT_TRUE(contains(lacking("sums", 3, 100), "array sums is missing or of the wrong size"));
  EXPECT_TRUE(contains(lacking("sums", 1, 200), "wrong size"));
  EXPECT_TRUE(contains(lacking("sums", 2, std::size_t{1} << 30), "wrong size"));
  EXPECT_TRUE(contains(lacking("absent", 1, 1), "missing"));
  EXPECT_TRUE(contains(error_of([&] { read(file, "sums", 0, 99); }), "array sums/0/0 is of the wrong size"));
}

TEST(RunFile, CreateRefusesWhatExistsOrCannotBe) {
  const TemporaryFolder folder;
  const std::string path = make(folder);
  EXPECT_TRUE(contains(error_of([&] { RunFile::create(path, "{}"); }), "exists already"));
  EXPECT_TRUE(contains(error_of([&] { RunFile::create(folder.path(), "{}"); }), "exists already"));
  for (const std::string& name : {std::string("no/where.hifi"), std::string(300, 'x')}) {
    const std::string message = error_of([&] { RunFile::create(folder.path(name), "{}"); });
    EXPECT_TRUE(contains(message, "unable to open")) << message;
  }
}

TEST(RunFile, NamesThatSqliteWouldInterpret) {
  const TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  for (const std::string name : {":memory:", "file:x?mode=memory", "plain"}) {
    RunFile::create(name, "{}");
    EXPECT_TRUE(std::filesystem::exists(name)) << name;
    EXPECT_EQ(RunFile::open(name, Mode::read).text("plan"), "{}");
  }
  std::filesystem::current_path(before);
}

TEST(RunFile, OpenNamesWhatIsWrong) {
  const TemporaryFolder folder;
  EXPECT_TRUE(contains(open_error(folder.path("gone")), "No such file"));
  EXPECT_TRUE(contains(open_error(folder.path()), "is a directory"));
  EXPECT_TRUE(contains(open_error("/dev/null"), "is not a file"));
  EXPECT_NE(open_error(folder.path(std::string(300, 'x'))), "no error");
  EXPECT_TRUE(contains(open_error(folder.write("empty", "")), "not a run file"));
  EXPECT_TRUE(contains(open_error(folder.write("text", std::string(5000, 'x'))), "not a run file"));
  EXPECT_TRUE(contains(open_error(folder.write("short", "SQLite format 3")), "not a run file"));
}

TEST(RunFile, OtherDatabases) {
  const TemporaryFolder folder;
  const std::string other = folder.path("other.db");
  sql(other, "CREATE TABLE t (x)");
  EXPECT_TRUE(contains(open_error(other), "not a run file of hifi"));
  const std::string path = make(folder);
  sql(path, "PRAGMA application_id = 5");
  EXPECT_TRUE(contains(open_error(path), "not a run file of hifi"));
}

TEST(RunFile, OtherVersions) {
  const TemporaryFolder folder;
  const std::string path = make(folder);
  sql(path, "PRAGMA user_version = 3");
  EXPECT_TRUE(contains(open_error(path), "schema 3 is newer than this hifi, which reads up to 2"));
  sql(path, "PRAGMA user_version = 1");
  EXPECT_TRUE(contains(open_error(path), "schema 1 is of an older hifi"));
  for (const char* old : {"0", "-7"}) {
    sql(path, std::string("PRAGMA user_version = ") + old);
    EXPECT_TRUE(contains(open_error(path), "not a run file"));
  }
}

TEST(RunFile, OnlyOurOwnTables) {
  const TemporaryFolder folder;
  const char* const kTricks[] = {
      "CREATE TRIGGER t AFTER INSERT ON log BEGIN DELETE FROM arrays; END",
      "CREATE VIEW v AS SELECT 1",
      "CREATE VIRTUAL TABLE v USING rtree(a, b, c)",
      "DROP TABLE texts; CREATE VIEW texts AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM "
      "r) "
      "SELECT 'plan' AS key, n AS value, '' AS hash FROM r",
      "DROP TABLE log",
      "ALTER TABLE texts ADD COLUMN more",
      "CREATE INDEX i ON texts (value)",
  };
  for (const char* trick : kTricks) {
    std::filesystem::remove(folder.path("run.hifi"));
    const std::string path = make(folder);
    sql(path, trick);
    EXPECT_TRUE(contains(open_error(path, Mode::write), "its tables are not ours")) << trick;
  }
}

TEST(RunFile, ChangedContentsAreSeen) {
  const TemporaryFolder folder;
  const std::string path = make(folder);
  sql(path, "UPDATE texts SET value = '{\"a\":2}' WHERE key = 'plan'");
  EXPECT_TRUE(contains(open_error(path), "text plan is not what was written"));
  sql(path, "UPDATE arrays SET data = zeroblob(800) WHERE block = 1");
  const RunFile file = RunFile::open(path, Mode::read);
  EXPECT_EQ(read(file, "sums", 0, 100), ramp(100));
  EXPECT_TRUE(
      contains(error_of([&] { read(file, "sums", 1, 100); }), "array sums/1/0 is not what was written"));
}

// Every damage ends in an error or in what was written, never in other numbers and never in a crash.
void expect_error_or_truth(const std::string& path, const std::string& what) {
  try {
    const RunFile file = RunFile::open(path, Mode::read);
    const auto plan = file.text("plan");
    const auto values = read(file, "sums", 0, 1000);
    EXPECT_EQ(plan.value_or("{\"a\":1}"), "{\"a\":1}") << what;
    EXPECT_EQ(values, ramp(1000)) << what;
    file.log_lines();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input) << what << error.what();
  }
}

TEST(RunFile, TruncatedAtAnyLength) {
  const TemporaryFolder folder;
  const std::string whole = (make(folder, 1000), folder.content("run.hifi"));
  for (std::size_t size = 0; size < whole.size(); size += size < 200 ? 13 : 1021) {
    expect_error_or_truth(folder.write("cut", whole.substr(0, size)), "cut at " + std::to_string(size));
  }
}

TEST(RunFile, ABitFlippedAnywhere) {
  const TemporaryFolder folder;
  const std::string whole = (make(folder, 1000), folder.content("run.hifi"));
  for (std::size_t at = 0; at < whole.size(); at += at < 100 ? 1 : 509) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    expect_error_or_truth(folder.write("flipped", damaged), "byte " + std::to_string(at));
  }
}

TEST(RunFile, OneWriterAtATime) {
  const TemporaryFolder folder;
  const std::string path = make(folder);
  {
    RunFile first = RunFile::open(path, Mode::write);
    EXPECT_TRUE(contains(open_error(path, Mode::write), "another process is using it"));
    first.commit([&] { first.put_text("position", "mine"); });
  }
  {
    const RunFile reader = RunFile::open(path, Mode::read);
    const RunFile other = RunFile::open(path, Mode::read);
    EXPECT_EQ(other.text("position"), "mine");
  }
  EXPECT_EQ(RunFile::open(path, Mode::write).text("position"), "mine");
}

TEST(RunFile, AKilledWriterLeavesTheLastCommit) {
  const TemporaryFolder folder;
  const std::string path = make(folder, 200'000);
  const pid_t child = fork();
  if (child == 0) {
    RunFile file = RunFile::open(path, Mode::write);
    file.commit([&] {
      file.put_text("position", "half");
      // Larger than the page cache, so that the file itself is being changed.
      for (std::size_t b = 0; b < 8; ++b) file.put_array("sums", b, ramp(200'000, 99));
      raise(SIGKILL);
    });
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  const RunFile file = RunFile::open(path, Mode::read);
  EXPECT_EQ(file.text("position"), "here");
  EXPECT_EQ(read(file, "sums", 0, 200'000), ramp(200'000));
}

TEST(RunFile, AFileThatCannotBeWritten) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everything";
  const TemporaryFolder folder;
  const std::string path = make(folder);
  chmod(path.c_str(), 0444);
  chmod(folder.path().c_str(), 0555);
  EXPECT_EQ(RunFile::open(path, Mode::read).text("position"), "here");
  EXPECT_TRUE(contains(open_error(path, Mode::write), "cannot be written"));
  EXPECT_NE(error_of([&] { RunFile::create(folder.path("new"), "{}"); }), "no error");
  chmod(folder.path().c_str(), 0755);
}

// No file may grow beyond `bytes` while the action runs.
void with_file_limit(rlim_t bytes, const std::function<void()>& action) {
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{.rlim_cur = bytes, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tight);
  action();
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
}

TEST(RunFile, AFullDiskKeepsWhatWasSaved) {
  const TemporaryFolder folder;
  const std::string path = make(folder);
  {
    RunFile file = RunFile::open(path, Mode::write);
    with_file_limit(200'000, [&] {
      EXPECT_NE(error_of([&] {
                  file.commit([&] {
                    file.put_text("position", "lost");
                    file.put_array("sums", 0, ramp(1'000'000));
                  });
                }),
                "no error");
    });
    EXPECT_EQ(file.text("position"), "here");
  }
  EXPECT_EQ(read(RunFile::open(path, Mode::write), "sums", 0, 100), ramp(100));
}

TEST(RunFile, AFullDiskLeavesNoHalfMadeFile) {
  const TemporaryFolder folder;
  with_file_limit(
      5000, [&] { EXPECT_NE(error_of([&] { RunFile::create(folder.path("new"), "{}"); }), "no error"); });
  EXPECT_EQ(folder.entries(), 0U);
}

}  // namespace
}  // namespace hifi
