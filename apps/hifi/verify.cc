#include "experiments/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "command.h"
#include "core/files.h"
#include "hifi/error.h"

namespace hifi::app {

Run add_verify(CLI::App& app) {
  struct Verify {
    std::vector<std::string> theorems;
    std::string json;
    std::size_t threads = 0;
    bool quiet = false;
  };
  auto* verb = app.add_subcommand(
      "verify", "Try the theorems: each check with what the theory says and what was found");
  auto run = std::make_shared<Verify>();
  verb->add_option("theorems", run->theorems, "T1, T2, T3, T4, and P for the proposition (default: all)")
      ->type_name("T1..");
  verb->add_option("--json", run->json, "Write the checks as JSON to FILE, or - for standard output")
      ->type_name("FILE|-");
  verb->add_option("--threads", run->threads, "Threads (default: one per core)")->check(CLI::Range(1, 1024));
  verb->add_flag("--quiet", run->quiet, "No table");
  verb->footer("Exit code 1 if a check fails. Example:\n  hifi verify T1 T3");
  return [run] {
    if (!run->json.empty() && run->json != "-") check_writable(run->json);
    Workers workers(run->threads);
    const std::vector<Check> checks = verify(run->theorems, our_machinery(), workers);
    if (run->json == "-") {
      print(checks_json(checks));
    } else {
      if (!run->json.empty()) write_file(run->json, checks_json(checks));
      if (!run->quiet) print(checks_text(checks));
    }
    const auto failed = std::count_if(checks.begin(), checks.end(), [](const Check& c) { return !c.pass(); });
    if (failed > 0) {
      throw Error(ErrorCode::check_failed, fmt::format("{} of {} checks failed", failed, checks.size()));
    }
  };
}

}  // namespace hifi::app
