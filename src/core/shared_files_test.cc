#include "core/shared_files.h"

#include <filesystem>

#include "core/test_folder.h"

namespace hifi {
namespace {

TEST(SharedFiles, TheSmallModelComesWithTheBuild) {
  const std::filesystem::path folder = shared_file("ioi-small");
  for (const char* file : {"config.json", "model.safetensors", "vocab.json", "merges.txt"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / file)) << file;
  }
  EXPECT_LT(std::filesystem::file_size(folder / "model.safetensors"), 2'000'000u);
}

TEST(SharedFiles, SaysWhatIsMissing) {
  EXPECT_TRUE(contains(error_of([] { shared_file("no-such-model"); }), "share/hifi/no-such-model"));
}

}  // namespace
}  // namespace hifi
