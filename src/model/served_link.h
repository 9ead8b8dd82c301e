// Talks to one server: several requests in flight, bounded retries with back-off, one-line errors.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "model/http_client.h"

namespace hifi {

// From the environment: HIFI_HTTP_TOKEN, HIFI_HTTP_CA, HIFI_HTTP_TIMEOUT (seconds), HIFI_HTTP_RETRIES,
// HIFI_HTTP_REQUESTS. None of it is stored anywhere.
struct ServedSettings {
  HttpOptions http;
  double trial_seconds = 30;
  double seconds = 120;
  std::size_t retries = 8;    // pauses of 0.25, 0.5, .. 8 s: half a minute, which bridges most restarts
  std::size_t in_flight = 4;  // requests at once, of all threads together

  // Throws Error(input) naming the variable, never its value.
  static ServedSettings from_environment();
};

class ServedLink {
 public:
  ServedLink(std::string url, ServedSettings settings);

  struct Question {
    std::optional<std::string> body;  // none: a GET
    std::size_t max_bytes = 0;        // of the answer
  };
  // Asks `count` questions of `path` (appended to the address) and hands over each answer of status 200 as
  // it comes. `make` and `take` are called from the calling thread. A server that cannot be reached, times
  // out or answers 429, 502, 503 or 504 is asked again. Throws Error(model), or Error(input) for a refusal
  // while `starting`. True: the connection was lost and found again, so the server may be another one.
  bool ask(const std::string& path, std::size_t count, bool starting,
           const std::function<Question(std::size_t)>& make,
           const std::function<void(std::size_t, const std::string&)>& take);

  const std::string& url() const { return url_; }

 private:
  struct Job;
  class Flight;
  enum class Verdict { take, lost, again };
  Verdict judge(const HttpAnswer& answer, Job& job, bool starting) const;
  [[noreturn]] void refuse(const HttpAnswer& answer, bool starting) const;
  void ask_again(const HttpAnswer& answer, Job& job, bool starting) const;
  bool take_slot(bool patiently);
  void give_slot();

  std::string url_;
  ServedSettings settings_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::size_t flying_ = 0;
  std::vector<std::unique_ptr<HttpClient>> idle_;
};

}  // namespace hifi
