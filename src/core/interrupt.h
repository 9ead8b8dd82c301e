// The user's wish to stop (Ctrl-C). Long loops look at it between units of work and throw
// Error(interrupted); what was finished has been kept by then.
#pragma once

namespace hifi {

// Async-signal-safe.
void request_interrupt();
bool interrupt_requested();
// Throws Error(interrupted) if the user asked to stop.
void check_interrupt();

}  // namespace hifi
