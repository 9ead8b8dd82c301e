#include "core/shared_files.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "hifi/error.h"

namespace hifi {

std::string shared_file(const std::string& name) {
  Dl_info self{};
  dladdr(reinterpret_cast<const void*>(&shared_file), &self);
  std::error_code error;
  auto folder = std::filesystem::canonical(self.dli_fname, error).parent_path();
  const auto core = folder;
  for (int up = 0; up <= 2; ++up, folder = folder.parent_path()) {
    const auto path = folder / "share" / "hifi" / name;
    if (std::filesystem::exists(path, error)) return path.string();
  }
  throw input_error(fmt::format("share/hifi/{} was not found in {} or above", name, core.string()),
                    "install hifi again");
}

}  // namespace hifi
