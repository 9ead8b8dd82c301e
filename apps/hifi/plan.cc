#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "explain_options.h"

namespace hifi::app {

Run add_plan(CLI::App& app) {
  auto* verb =
      app.add_subcommand("plan", "What an explain with the same flags would cost: evaluations, memory, time");
  auto options = std::make_shared<ExplainOptions>();
  auto threads = std::make_shared<std::size_t>(0);
  options->add_to(*verb);
  verb->add_option("--threads", *threads, "Threads (default: one per core)")->check(CLI::Range(1, 1024));
  verb->footer(
      "Example (`hifi demo --keep demo` makes the files):\n"
      "  hifi plan --model demo/model.json --data demo/data.csv --target y --exact");
  return [options, threads] {
    const ExplainRequest request = options->request();
    Workers workers(*threads);
    const Audit audit(request, options->shard(), workers);
    fmt::print("{}\n", plan_text(audit));
  };
}

}  // namespace hifi::app
