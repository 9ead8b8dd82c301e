#include "core/version.h"

namespace hifi {

std::string version() { return HIFI_VERSION; }

}  // namespace hifi
