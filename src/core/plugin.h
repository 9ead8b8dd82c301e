// Heavy libraries (Arrow, later OpenVINO and libtorch) live in plug-ins beside the core, opened on
// demand with RTLD_LOCAL so that their symbols stay their own.
#pragma once

#include <string>

namespace hifi {

// The address of `symbol` in plug-in `name` ("tables" is libhifi_tables.so). `package` is what to
// install when it cannot be opened. Throws Error(input) that names it, Error(bug) for a plug-in of another
// build.
void* plugin_symbol(const std::string& name, const std::string& symbol, const std::string& package);

}  // namespace hifi
