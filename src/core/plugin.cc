#include "core/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <mutex>

#include "hifi/error.h"

namespace hifi {

namespace {

std::filesystem::path plugin_path(const std::string& name) {
  Dl_info self{};
  dladdr(reinterpret_cast<const void*>(&plugin_symbol), &self);
  return std::filesystem::path(self.dli_fname).parent_path() / ("libhifi_" + name + ".so");
}

void* open_plugin(const std::string& name, const std::string& package) {
  const auto path = plugin_path(name);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw input_error(fmt::format("cannot open the {} plug-in: {}", name, dlerror()),
                      fmt::format("install {}", package));
  }
  const auto* id = static_cast<const char* const*>(dlsym(handle, "hifi_plugin_build_id"));
  if (id == nullptr || std::string(*id) != HIFI_BUILD_ID) {
    throw Error(ErrorCode::bug, fmt::format("{} belongs to another build of hifi", path.string()),
                "build and install core and plug-ins together");
  }
  return handle;
}

}  // namespace

void* plugin_symbol(const std::string& name, const std::string& symbol, const std::string& package) {
  static std::mutex mutex;
  static std::map<std::string, void*> open;
  const std::lock_guard lock(mutex);
  auto found = open.find(name);
  if (found == open.end()) found = open.emplace(name, open_plugin(name, package)).first;
  void* address = dlsym(found->second, symbol.c_str());
  if (address == nullptr) {
    throw Error(ErrorCode::bug, fmt::format("the {} plug-in has no {}", name, symbol));
  }
  return address;
}

}  // namespace hifi
