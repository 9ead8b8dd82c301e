#include "core/interrupt.h"

#include <atomic>

#include "hifi/error.h"

namespace hifi {

namespace {
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);
}  // namespace

void request_interrupt() { interrupted.store(true); }

bool interrupt_requested() { return interrupted.load(); }

void check_interrupt() {
  if (interrupt_requested()) throw Error(ErrorCode::interrupted, "interrupted");
}

}  // namespace hifi
