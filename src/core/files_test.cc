#include "core/files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "core/test_folder.h"

namespace hifi {
namespace {

TEST(Files, RoundTripEveryByte) {
  const TemporaryFolder folder;
  std::string bytes;
  for (int repeat = 0; repeat < 1000; ++repeat) {
    for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  }
  write_file(folder.path("a"), bytes);
  EXPECT_EQ(read_file(folder.path("a")), bytes);
  write_file(folder.path("a"), "shorter");
  EXPECT_EQ(read_file(folder.path("a")), "shorter");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(Files, ReadNamesWhatIsWrong) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { read_file(folder.path("gone")); }),
            folder.path("gone") + ": No such file or directory");
  EXPECT_EQ(error_of([&] { read_file(folder.path()); }),
            folder.path() + ": is a directory, a file is needed");
  folder.write("empty", "");
  EXPECT_EQ(error_of([&] { read_file(folder.path("empty")); }), folder.path("empty") + ": the file is empty");
  EXPECT_NE(error_of([&] { read_file(folder.path(std::string(300, 'x'))); }), "no error");
}

TEST(Files, AReadErrorIsNotAnEmptyFile) {
  // Address 0 is never mapped.
  const std::string message = error_of([] { read_file("/proc/self/mem"); });
  EXPECT_TRUE(contains(message, "Input/output error")) << message;
}

TEST(Files, CheckWritableLeavesNothing) {
  const TemporaryFolder folder;
  check_writable(folder.path("new"));
  EXPECT_EQ(folder.entries(), 0U);
  folder.write("old", "kept");
  check_writable(folder.path("old"));
  EXPECT_EQ(folder.content("old"), "kept");
  check_writable("/dev/null");
  EXPECT_TRUE(contains(error_of([&] { check_writable(folder.path("no/where")); }), "cannot be written"));
  EXPECT_TRUE(contains(error_of([&] { check_writable(folder.path()); }), "is a directory"));
  EXPECT_TRUE(contains(error_of([&] { check_writable(folder.path(std::string(300, 'x'))); }), "too long"));
}

TEST(Files, WriteIsAllOrNothing) {
  const TemporaryFolder folder;
  folder.write("a", "before");
  EXPECT_TRUE(contains(error_of([&] { write_file(folder.path("no/where"), "x"); }), "cannot be written"));
  EXPECT_TRUE(contains(error_of([&] { write_file(folder.path(), "x"); }), "directory"));
  EXPECT_TRUE(contains(error_of([&] { write_file("/dev/full", "x"); }), "No space left"));
  write_file("/dev/null", "x");

  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tight);
  const std::string message = error_of([&] { write_file(folder.path("a"), std::string(10'000, 'x')); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_TRUE(contains(message, "File too large")) << message;
  EXPECT_EQ(folder.content("a"), "before");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(Files, ReadsAndWritesPipes) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo(folder.path("in").c_str(), 0600), 0);
  ASSERT_EQ(mkfifo(folder.path("out").c_str(), 0600), 0);
  const std::string copy = "cat '" + folder.path("out") + "' | cat > '" + folder.path("in") + "' &";
  ASSERT_EQ(std::system(copy.c_str()), 0);
  check_writable(folder.path("out"));
  write_file(folder.path("out"), "through");
  EXPECT_EQ(read_file(folder.path("in")), "through");
  EXPECT_EQ(folder.entries(), 2U);
  struct stat status;
  ASSERT_EQ(stat(folder.path("out").c_str(), &status), 0);
  EXPECT_TRUE(S_ISFIFO(status.st_mode)) << "the pipe was replaced by a file";
}

}  // namespace
}  // namespace hifi
