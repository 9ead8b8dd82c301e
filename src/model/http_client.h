// HTTP as the protocol of served models needs it: requests out, answers in, several in flight.
//
// libcurl, and with it OpenSSL, is behind a plug-in: libparquet exports OpenSSL's symbols, and the two must
// not meet in one scope. A client belongs to one thread at a time; it keeps its connections alive.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace hifi {

struct HttpOptions {
  std::string token;    // sent as `Authorization: Bearer ..`; empty: none
  std::string ca_file;  // certificates to trust instead of the system's; empty: the system's
  double connect_seconds = 10;
};

struct HttpRequest {
  std::size_t tag = 0;  // comes back with the answer
  std::string url;
  const std::string* body = nullptr;  // JSON to post; none: a GET. Must outlive the answer
  double seconds = 0;                 // for the whole exchange
  std::size_t max_bytes = 0;          // a longer answer is cut off and a failure
};

// Why there is no answer.
enum class HttpFailure { none, unreachable, timed_out, too_long, other };

struct HttpAnswer {
  std::size_t tag = 0;
  HttpFailure failure = HttpFailure::none;
  std::string reason;  // of the failure, in libcurl's words
  long status = 0;
  std::string body;
  std::string location;    // of a redirect: never followed, a token would go with it
  double retry_after = 0;  // seconds that the server asks for
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  virtual void start(const HttpRequest& request) = 0;
  // The next answer, or none after `seconds`. Throws Error(interrupted) when the user asks to stop.
  virtual std::optional<HttpAnswer> wait(double seconds) = 0;
};

// Throws Error(input) if the plug-in is missing.
std::unique_ptr<HttpClient> make_http_client(const HttpOptions& options);

}  // namespace hifi
