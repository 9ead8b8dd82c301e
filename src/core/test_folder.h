// A folder for the files of a test; it goes with the object.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "hifi/error.h"

namespace hifi {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    // In memory where possible: run files are synced with every commit.
    const bool in_memory = access("/dev/shm", W_OK) == 0;
    const std::filesystem::path base = in_memory ? "/dev/shm" : std::filesystem::temp_directory_path();
    std::string name = (base / "hifi_test_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(const std::string& name = "") const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  std::string content(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name), std::ios::binary).rdbuf();
    return text.str();
  }
  // How many entries the folder has.
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path folder_;
};

// The message of the hifi::Error that the action must throw, which must be one line and of this code.
inline std::string error_of(const std::function<void()>& action, ErrorCode code = ErrorCode::input) {
  try {
    action();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << message;
    EXPECT_EQ(message.find_first_of("\r\n"), std::string::npos) << message;
    return message;
  }
  return "no error";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace hifi
