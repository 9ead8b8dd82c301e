// The flags of `explain` and `plan`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "audit/audit.h"
#include "audit/request.h"
#include "circuit_options.h"
#include "command.h"
#include "run_options.h"

namespace hifi::app {

class ExplainOptions {
 public:
  void add_to(CLI::App& verb);
  // Flags of circuits, too: with --task the request is about one.
  void add_circuit_to(CLI::App& verb);
  // Throws Error(usage) for lists, sizes and shards that are malformed.
  ExplainRequest request() const;
  Shard shard() const { return run_.shard(); }

 private:
  ExplainRequest request_;
  std::string features_;
  std::string classes_;
  RunOptions run_;
  CircuitFlags circuit_;
  CLI::App* verb_ = nullptr;
};

// The plan, one line each, for people.
std::string plan_text(const Audit& audit);

}  // namespace hifi::app
