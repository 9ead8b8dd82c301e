// A folder of table files for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "hifi/error.h"

namespace hifi {

class TableFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "hifi_tables_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

  std::string content(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name), std::ios::binary).rdbuf();
    return text.str();
  }

  // The message without the folder; every error must be Error(input) on one line.
  std::string error_of(const std::function<void()>& action) const {
    try {
      action();
    } catch (const Error& error) {
      std::string message = error.what();
      EXPECT_EQ(error.code(), ErrorCode::input);
      EXPECT_EQ(message.find_first_of("\r\n"), std::string::npos) << message;
      if (message.starts_with(path(""))) message.erase(0, path("").size());
      return message;
    }
    return "no error";
  }

  // Runs Python statements in the folder, with pyarrow as pa.
  void python(const std::string& statements) const {
    write("script.py",
          "import pyarrow as pa, pyarrow.parquet as pq, pyarrow.feather as feather, pyarrow.ipc as ipc\n" +
              statements);
    const std::string command =
        "cd '" + folder_.string() + "' && '" HIFI_SOURCE_DIR "/.venv/bin/python' -W ignore script.py";
    ASSERT_EQ(std::system(command.c_str()), 0) << statements;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace hifi
