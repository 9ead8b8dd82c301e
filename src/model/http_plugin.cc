// The one file that sees libcurl.
#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <map>
#include <vector>

#include "core/interrupt.h"
#include "hifi/error.h"
#include "model/http_client.h"

namespace hifi {

namespace {

constexpr long kUploadBuffer = 2L << 20, kAnswerBuffer = 256L << 10;
constexpr int kPollMilliseconds = 100;  // how long an interrupt may go unnoticed

// OpenSSL writes to connections that are gone; that must not end the process.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutPipeSignal() {
    constexpr timespec kNow{};
    while (sigtimedwait(&pipe_, nullptr, &kNow) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
};

struct Exchange {
  CURL* easy = nullptr;
  HttpAnswer answer;
  std::size_t max_bytes = 0;
  bool too_long = false;
  std::array<char, CURL_ERROR_SIZE> error{};
};

std::size_t keep(char* data, std::size_t, std::size_t size, void* target) {
  auto& exchange = *static_cast<Exchange*>(target);
  if (exchange.answer.body.size() + size > exchange.max_bytes) {
    exchange.too_long = true;
    return 0;  // libcurl ends the transfer
  }
  exchange.answer.body.append(data, size);
  return size;
}

HttpFailure failure_of(CURLcode code, bool too_long) {
  switch (code) {
    case CURLE_OK:
      return HttpFailure::none;
    case CURLE_OPERATION_TIMEDOUT:
      return HttpFailure::timed_out;
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:  // a name may come back with its service
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      return HttpFailure::unreachable;
    default:
      return too_long ? HttpFailure::too_long : HttpFailure::other;
  }
}

class CurlClient : public HttpClient {
 public:
  explicit CurlClient(const HttpOptions& options) : options_(options), multi_(curl_multi_init()) {
    // libcurl would wait a second for a `100 Continue` before long bodies.
    for (const std::string& line : {std::string("Content-Type: application/json"), std::string("Expect:"),
                                    options.token.empty() ? "" : "Authorization: Bearer " + options.token}) {
      if (!line.empty()) headers_ = curl_slist_append(headers_, line.c_str());
    }
  }
  ~CurlClient() override {
    const WithoutPipeSignal quiet;
    for (auto& [easy, exchange] : running_) {
      curl_multi_remove_handle(multi_, easy);
      curl_easy_cleanup(easy);
    }
    for (CURL* easy : idle_) curl_easy_cleanup(easy);
    curl_multi_cleanup(multi_);
    curl_slist_free_all(headers_);
  }
  CurlClient(const CurlClient&) = delete;
  CurlClient& operator=(const CurlClient&) = delete;

  void start(const HttpRequest& request) override {
    auto exchange = std::make_unique<Exchange>();
    exchange->easy = take_handle();
    exchange->answer.tag = request.tag;
    exchange->max_bytes = request.max_bytes;
    CURL* easy = exchange->easy;
    curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(1000 * request.seconds));
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange->error.data());
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange.get());
    if (request.body != nullptr) {
      curl_easy_setopt(easy, CURLOPT_POST, 1L);
      curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body->c_str());
      curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body->size()));
    }
    curl_multi_add_handle(multi_, easy);
    running_.emplace(easy, std::move(exchange));
    perform();
  }

  std::optional<HttpAnswer> wait(double seconds) override {
    const double end = now() + seconds;
    for (;;) {
      check_interrupt();
      perform();
      int left = 0;
      while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
        if (message->msg == CURLMSG_DONE) return finish(message->easy_handle, message->data.result);
      }
      const double rest = end - now();
      if (rest <= 0) return std::nullopt;
      curl_multi_poll(multi_, nullptr, 0, std::clamp(static_cast<int>(1000 * rest), 1, kPollMilliseconds),
                      nullptr);
    }
  }

 private:
  static double now() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }

  void perform() {
    const WithoutPipeSignal quiet;
    int running = 0;
    curl_multi_perform(multi_, &running);
  }

  CURL* take_handle() {
    CURL* easy = nullptr;
    if (idle_.empty()) {
      easy = curl_easy_init();
    } else {
      easy = idle_.back();
      idle_.pop_back();
      curl_easy_reset(easy);
    }
    if (easy == nullptr || multi_ == nullptr) throw model_error("libcurl: out of memory");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(1000 * options_.connect_seconds));
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "hifi");
    // A request in one piece costs server and client fewer steps than in pieces of 64 kB.
    curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, kUploadBuffer);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, kAnswerBuffer);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers_);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &keep);
    if (!options_.ca_file.empty()) {
      curl_easy_setopt(easy, CURLOPT_CAINFO, options_.ca_file.c_str());
      curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
    }
    return easy;
  }

  HttpAnswer finish(CURL* easy, CURLcode code) {
    auto node = running_.extract(easy);
    Exchange& exchange = *node.mapped();
    HttpAnswer answer = std::move(exchange.answer);
    answer.failure = failure_of(code, exchange.too_long);
    if (code != CURLE_OK) {
      answer.reason = exchange.error[0] != '\0' ? exchange.error.data() : curl_easy_strerror(code);
    }
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &answer.status);
    const char* location = nullptr;
    curl_easy_getinfo(easy, CURLINFO_REDIRECT_URL, &location);
    if (location != nullptr) answer.location = location;
    curl_off_t pause = 0;
    curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &pause);
    answer.retry_after = static_cast<double>(pause);
    curl_multi_remove_handle(multi_, easy);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, nullptr);
    idle_.push_back(easy);
    return answer;
  }

  HttpOptions options_;
  CURLM* multi_;
  curl_slist* headers_ = nullptr;
  std::map<CURL*, std::unique_ptr<Exchange>> running_;
  std::vector<CURL*> idle_;
};

}  // namespace

}  // namespace hifi

extern "C" hifi::HttpClient* hifi_make_http_client(const hifi::HttpOptions* options) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (ready != CURLE_OK) throw hifi::model_error("libcurl cannot be initialised");
  return new hifi::CurlClient(*options);
}
