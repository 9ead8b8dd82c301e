// Flags that say which circuit: of `circuit`, and of `plan` where it is about one.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "audit/request.h"

namespace hifi::app {

class CircuitFlags {
 public:
  // --model and --groups are the verb's own. The request must outlive the verb.
  void add_to(CLI::App& verb, ExplainRequest& request);
  // Throws Error(usage) for a list that is malformed.
  void complete(ExplainRequest& request) const;

 private:
  std::string heads_;
};

}  // namespace hifi::app
