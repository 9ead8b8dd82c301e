#include "core/progress.h"

#include <algorithm>
#include <utility>

namespace hifi {

Progress::Progress(std::uint64_t total, std::uint64_t already, Listener listener)
    : total_(total), already_(already), done_(already), listener_(std::move(listener)) {}

void Progress::advance(std::uint64_t amount) {
  done_ += amount;
  const auto now = Clock::now();
  if (!listener_ || (now - told_ < std::chrono::milliseconds(100) && done_ < total_)) return;
  told_ = now;
  listener_(report());
}

ProgressReport Progress::report() const {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  ProgressReport report{.done = done_, .total = total_, .rate = 0, .remaining_seconds = -1};
  if (seconds > 0 && done_ > already_) {
    report.rate = static_cast<double>(done_ - already_) / seconds;
    report.remaining_seconds = static_cast<double>(total_ - std::min(done_, total_)) / report.rate;
  }
  return report;
}

}  // namespace hifi
