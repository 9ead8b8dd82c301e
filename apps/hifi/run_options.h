// Flags of every verb that runs an audit: how much to evaluate, how to report its noise, which part of it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "audit/audit.h"
#include "audit/request.h"

namespace hifi::app {

class RunOptions {
 public:
  // The request must outlive the verb.
  void add_to(CLI::App& verb, ExplainRequest& request);
  // Checks what the flags say together. Throws Error(usage).
  void complete(ExplainRequest& request) const;
  Shard shard() const;

 private:
  std::string shard_;
  std::string max_memory_;
};

}  // namespace hifi::app
