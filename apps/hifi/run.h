// Running an audit to its end and telling the result; `explain`, `resume` and `demo` share it.
#pragma once

#include <functional>

#include "audit/audit.h"
#include "command.h"

namespace hifi::app {

// Adds a hint to resume when a run with a file is interrupted or its model fails.
// `appendix`, if there is one, is asked when the profile is known.
void run_and_report(Audit& audit, RunFile* file, const Output& output, Workers& workers,
                    const std::function<Appendix(const Profile&)>& appendix = {});

}  // namespace hifi::app
