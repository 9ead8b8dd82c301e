#include "model/served_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "core/interrupt.h"
#include "data/text_column.h"
#include "hifi/error.h"
#include "model/served_protocol.h"

namespace hifi {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kFirstPause = 0.25, kLongestPause = 8, kLongestRetryAfter = 60;  // seconds
constexpr std::size_t kStartRetries = 2;                                          // nothing is lost yet
constexpr std::size_t kTimeoutRetries = 2;              // each has cost the whole time
constexpr auto kLook = std::chrono::milliseconds(100);  // how long an interrupt may go unnoticed

std::string text_of(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

double number_of(const char* name, double low, double high, double otherwise) {
  const std::string text = text_of(name);
  if (text.empty()) return otherwise;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= low && value <= high)) {
    throw input_error(
        fmt::format("the environment variable {} must be a number from {} to {}", name, low, high));
  }
  return value;
}

std::size_t count_of(const char* name, double low, double high, std::size_t otherwise) {
  return static_cast<std::size_t>(number_of(name, low, high, static_cast<double>(otherwise)));
}

bool is_passing(long status) { return status == 429 || status == 502 || status == 503 || status == 504; }

}  // namespace

ServedSettings ServedSettings::from_environment() {
  ServedSettings settings;
  settings.http.token = text_of("HIFI_HTTP_TOKEN");
  for (const char c : settings.http.token) {
    if (c <= ' ' || c == '\x7f') {
      throw input_error("the environment variable HIFI_HTTP_TOKEN holds a blank or a control character");
    }
  }
  settings.http.ca_file = text_of("HIFI_HTTP_CA");
  if (!settings.http.ca_file.empty() && !std::filesystem::is_regular_file(settings.http.ca_file)) {
    throw input_error(fmt::format("HIFI_HTTP_CA: there is no file {}", hifi::quoted(settings.http.ca_file)),
                      "it names the certificates to trust, in PEM");
  }
  settings.seconds = number_of("HIFI_HTTP_TIMEOUT", 0.01, 86'400, settings.seconds);
  if (!text_of("HIFI_HTTP_TIMEOUT").empty()) settings.trial_seconds = settings.seconds;
  settings.http.connect_seconds = std::min(settings.http.connect_seconds, settings.seconds);
  settings.retries = count_of("HIFI_HTTP_RETRIES", 0, 1000, settings.retries);
  settings.in_flight = count_of("HIFI_HTTP_REQUESTS", 1, 64, settings.in_flight);
  return settings;
}

struct ServedLink::Job {
  Question question;
  std::size_t tries = 0;
  std::size_t timeouts = 0;
  Clock::time_point due{};
};

// A client and the places it takes among the requests in flight. A client whose requests were abandoned
// goes with them, else it is kept for its open connections.
class ServedLink::Flight {
 public:
  explicit Flight(ServedLink& link) : link_(link) {
    {
      const std::lock_guard lock(link.mutex_);
      if (!link.idle_.empty()) {
        client_ = std::move(link.idle_.back());
        link.idle_.pop_back();
      }
    }
    if (client_ == nullptr) client_ = make_http_client(link.settings_.http);
  }
  ~Flight() {
    if (flying_ == 0) {
      const std::lock_guard lock(link_.mutex_);
      link_.idle_.push_back(std::move(client_));
    }
    for (; flying_ > 0; --flying_) link_.give_slot();
  }
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  bool take_slot() {
    if (!link_.take_slot(flying_ == 0)) return false;
    ++flying_;
    return true;
  }
  void start(const HttpRequest& request) { client_->start(request); }
  std::optional<HttpAnswer> wait(double seconds) {
    auto answer = client_->wait(seconds);
    if (answer) {
      --flying_;
      link_.give_slot();
    }
    return answer;
  }
  std::size_t flying() const { return flying_; }

 private:
  ServedLink& link_;
  std::unique_ptr<HttpClient> client_;
  std::size_t flying_ = 0;
};

ServedLink::ServedLink(std::string url, ServedSettings settings)
    : url_(std::move(url)), settings_(std::move(settings)) {}

bool ServedLink::take_slot(bool patiently) {
  std::unique_lock lock(mutex_);
  while (flying_ >= settings_.in_flight) {
    if (!patiently) return false;
    check_interrupt();
    freed_.wait_for(lock, kLook);
  }
  ++flying_;
  return true;
}

void ServedLink::give_slot() {
  {
    const std::lock_guard lock(mutex_);
    --flying_;
  }
  freed_.notify_one();
}

bool ServedLink::ask(const std::string& path, std::size_t count, bool starting,
                     const std::function<Question(std::size_t)>& make,
                     const std::function<void(std::size_t, const std::string&)>& take) {
  std::vector<Job> jobs(count);
  std::vector<std::size_t> again;  // to be asked once more, when due
  std::size_t next = 0, done = 0;
  bool lost = false;
  Flight flight(*this);
  const auto earliest = [&](std::size_t a, std::size_t b) { return jobs[a].due < jobs[b].due; };
  while (done < count) {
    for (;;) {
      const auto retry = std::min_element(again.begin(), again.end(), earliest);
      const bool due = retry != again.end() && jobs[*retry].due <= Clock::now();
      if ((!due && next == count) || !flight.take_slot()) break;
      const std::size_t k = due ? *retry : next;
      if (due) again.erase(retry);
      if (!due) jobs[next].question = make(next);
      if (!due) ++next;
      const Job& job = jobs[k];
      flight.start({.tag = k,
                    .url = url_ + path,
                    .body = job.question.body ? &*job.question.body : nullptr,
                    .seconds = starting ? settings_.trial_seconds : settings_.seconds,
                    .max_bytes = job.question.max_bytes});
    }
    if (flight.flying() == 0) {  // all that is left waits for its time
      check_interrupt();
      std::this_thread::sleep_for(kLook / 4);
      continue;
    }
    const auto answer = flight.wait(again.empty() ? 3600 : std::chrono::duration<double>(kLook).count());
    if (!answer) continue;
    Job& job = jobs[answer->tag];
    const Verdict verdict = judge(*answer, job, starting);
    lost = lost || verdict == Verdict::lost;
    if (verdict == Verdict::take) {
      take(answer->tag, answer->body);
      job.question.body.reset();
      ++done;
    } else {
      again.push_back(answer->tag);
    }
  }
  return lost;
}

ServedLink::Verdict ServedLink::judge(const HttpAnswer& answer, Job& job, bool starting) const {
  const bool timed_out = answer.failure == HttpFailure::timed_out;
  const bool lost = timed_out || answer.failure == HttpFailure::unreachable;
  if (!lost && answer.failure != HttpFailure::none) refuse(answer, starting);
  if (!lost && answer.status == 200) return Verdict::take;
  // A server that starts again knows its models only after a while.
  const bool forgot = !starting && answer.status == 404;
  if (!lost && !is_passing(answer.status) && !forgot) refuse(answer, starting);
  job.timeouts += timed_out ? 1 : 0;
  ask_again(answer, job, starting);
  return lost || forgot ? Verdict::lost : Verdict::again;
}

// Says when, or throws if it was asked often enough.
void ServedLink::ask_again(const HttpAnswer& answer, Job& job, bool starting) const {
  const std::size_t most = starting ? std::min(kStartRetries, settings_.retries) : settings_.retries;
  ++job.tries;
  if (job.tries > most || job.timeouts > std::min(most, kTimeoutRetries)) refuse(answer, starting);
  double pause =
      std::min(kLongestPause,
               kFirstPause * std::ldexp(1.0, static_cast<int>(std::min<std::size_t>(job.tries - 1, 30))));
  pause = std::max(pause, std::min(kLongestRetryAfter, answer.retry_after));
  job.due = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(pause));
}

void ServedLink::refuse(const HttpAnswer& answer, bool starting) const {
  const auto fail = [&](ErrorCode code, std::string what, const std::string& hint) {
    // A server may repeat what it was sent.
    for (std::size_t at = 0;
         !settings_.http.token.empty() && (at = what.find(settings_.http.token, at)) != std::string::npos;) {
      what.replace(at, settings_.http.token.size(), "[token]");
    }
    throw Error(code, fmt::format("{}: {}", url_, what), hint);
  };
  const ErrorCode unfit = starting ? ErrorCode::input : ErrorCode::model;
  switch (answer.failure) {
    case HttpFailure::unreachable:
      fail(ErrorCode::model, fmt::format("cannot be reached: {}", one_line(answer.reason)),
           "is the server up?");
      break;
    case HttpFailure::timed_out:
      fail(ErrorCode::model,
           fmt::format("no answer after {} s", starting ? settings_.trial_seconds : settings_.seconds),
           "send fewer rows at once with --batch, or allow more with the environment variable "
           "HIFI_HTTP_TIMEOUT (seconds)");
      break;
    case HttpFailure::too_long:
      fail(ErrorCode::model, "the answer is longer than any for so many rows", "");
      break;
    case HttpFailure::other:
      fail(unfit, one_line(answer.reason),
           "the environment variable HIFI_HTTP_CA names the certificates to trust, in PEM");
      break;
    case HttpFailure::none:
      break;
  }
  const long status = answer.status;
  if (status >= 300 && status < 400) {
    const std::string to = answer.location.substr(0, answer.location.find_first_of("?#"));
    const bool secret = to.find('@') != std::string::npos;
    fail(unfit,
         fmt::format("answers {}, a redirect{}", status,
                     to.empty() || secret ? "" : fmt::format(" to {}", one_line(to))),
         "give the address that the model really has");
  }
  std::string hint;
  if (status == 401 || status == 403)
    hint = "the environment variable HIFI_HTTP_TOKEN is sent as bearer token";
  if (status == 413 || status == 504) hint = "send fewer rows at once with --batch";
  fail(status >= 400 && status < 500 && status != 429 ? unfit : ErrorCode::model,
       fmt::format("answers {}: {}", status, complaint(answer.body)), hint);
  throw Error(ErrorCode::bug, "a refusal without a reason");  // not reached
}

}  // namespace hifi
