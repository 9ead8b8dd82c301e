// Flags of every verb that runs an audit: how much to evaluate, how to report its noise, which part of it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "audit/audit.h"
#include "command.h"

namespace hifi::app {

// Where the flags of a request go; requests of tables, circuits and images have the same ones.
struct RunFields {
  bool& exact;
  std::optional<std::uint64_t>& budget;
  std::string& time;
  std::string& precision;
  std::string& policy;
  bool& per_instance;
  bool& amortise;
  std::uint64_t& seed;
  std::string& interval;
  double& confidence;
  std::uint64_t& max_memory;
};

template <class Request>
RunFields run_fields(Request& r) {
  return {r.exact,    r.budget, r.time,     r.precision,  r.policy,    r.per_instance,
          r.amortise, r.seed,   r.interval, r.confidence, r.max_memory};
}

// What is said of flags that count something else from verb to verb.
struct RunWords {
  std::string exact;
  std::string budget;
  std::string per_instance;
};
RunWords usual_words();

class RunOptions {
 public:
  // The request must outlive the verb.
  void add_to(CLI::App& verb, const RunFields& request, const RunWords& words = usual_words());
  template <class Request>
  void add_to(CLI::App& verb, Request& request) {
    add_to(verb, run_fields(request));
  }
  // Checks what the flags say together. Throws Error(usage).
  void complete(const RunFields& request) const;
  template <class Request>
  void complete(Request& request) const {
    complete(run_fields(request));
  }
  Shard shard() const;

 private:
  std::string shard_;
  std::string max_memory_;
};

// Before a run: a shard has a file and no profile, and the file is new. Throws Error(usage) or Error(input).
void check_run_file(const std::string& out, const Shard& shard, const Output& output);

}  // namespace hifi::app
