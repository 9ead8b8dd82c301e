// How far a long computation is, how fast it goes and how long it will take. It prints nothing: the
// listener does, at most ten times a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace hifi {

struct ProgressReport {
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  double rate = 0;               // per second, since the start of this process
  double remaining_seconds = 0;  // negative: not known yet
};

class Progress {
 public:
  using Listener = std::function<void(const ProgressReport&)>;

  // `already`: done by an earlier process; it does not count for the rate.
  Progress(std::uint64_t total, std::uint64_t already, Listener listener);

  void advance(std::uint64_t amount);
  ProgressReport report() const;

 private:
  using Clock = std::chrono::steady_clock;
  std::uint64_t total_;
  std::uint64_t already_;
  std::uint64_t done_;
  Listener listener_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point told_ = start_;
};

}  // namespace hifi
