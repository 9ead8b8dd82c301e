#include "model/http_client.h"

#include "core/plugin.h"

namespace hifi {

std::unique_ptr<HttpClient> make_http_client(const HttpOptions& options) {
  using Make = HttpClient*(const HttpOptions*);
  auto* make = reinterpret_cast<Make*>(
      plugin_symbol("backend_http", "hifi_make_http_client", "the Debian package libcurl4"));
  return std::unique_ptr<HttpClient>(make(&options));
}

}  // namespace hifi
