// The same audit under other backgrounds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "audit/audit.h"
#include "command.h"
#include "report/stress.h"

namespace hifi::app {

class StressTest {
 public:
  // Opens an audit per background, so that one that does not fit is refused before anything runs. The
  // background of the request itself needs no second run.
  StressTest(const ExplainRequest& request, const std::vector<std::string>& backgrounds, Workers& workers);

  // Runs them. `own` is the audit that was asked for.
  Appendix run(BackgroundProfile own, const Output& output);

 private:
  struct Other {
    std::string background;
    std::unique_ptr<Audit> audit;
  };
  Workers& workers_;
  std::vector<Other> others_;
};

}  // namespace hifi::app
