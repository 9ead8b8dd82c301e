// A folder of table files for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "core/test_folder.h"

namespace hifi {

class TableFiles : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path(name); }
  std::string write(const std::string& name, const std::string& content) const {
    return folder_.write(name, content);
  }
  std::string content(const std::string& name) const { return folder_.content(name); }

  // The message without the folder; every error must be Error(input) on one line.
  std::string error_of(const std::function<void()>& action) const {
    std::string message = hifi::error_of(action);
    if (message.starts_with(path(""))) message.erase(0, path("").size());
    return message;
  }

  // Runs Python statements in the folder, with pyarrow as pa.
  void python(const std::string& statements) const {
    write("script.py",
          "import pyarrow as pa, pyarrow.parquet as pq, pyarrow.feather as feather, pyarrow.ipc as ipc\n" +
              statements);
    const std::string command =
        "cd '" + path("") + "' && '" HIFI_SOURCE_DIR "/.venv/bin/python' -W ignore script.py";
    ASSERT_EQ(std::system(command.c_str()), 0) << statements;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace hifi
