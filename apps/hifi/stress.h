// The same audit under other backgrounds.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "audit/audit.h"
#include "command.h"
#include "report/stress.h"

namespace hifi::app {

class StressTest {
 public:
  // Opens an audit per background that the request names, so that one that does not fit is refused before
  // anything runs. The background of the request itself needs no second run.
  StressTest(const ExplainRequest& request, Workers& workers);

  // What is sampled though everything else is exact, for the plan; empty if there is nothing to say.
  std::string note() const;
  // Runs them. `own` is the audit that was asked for. Nothing to tell if no background was named.
  Appendix run(BackgroundProfile own, const Output& output);
  // The same as a step of `run_and_report`, for the audit that was asked for; all must outlive it.
  std::function<Appendix(const Profile&)> appendix(const Audit& audit, const Output& output);

 private:
  struct Other {
    std::string background;
    std::unique_ptr<Audit> audit;
  };
  Workers& workers_;
  bool exact_;
  bool named_;
  std::string background_;
  std::vector<Other> others_;
};

}  // namespace hifi::app
