#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "audit/precision_plan.h"
#include "command.h"
#include "core/files.h"
#include "explain_options.h"

namespace hifi::app {

namespace {

using nlohmann::ordered_json;

ordered_json optional(const std::optional<double>& x) { return x ? ordered_json(*x) : ordered_json(nullptr); }

std::string precision_text(const PrecisionPlan& p, const RunPlan& plan, const std::string& asked) {
  std::string text = fmt::format("\nprecision   widest interval below {}", asked);
  if (asked.ends_with('%')) {
    text += " of L({}) - L(all)";
    if (p.pilot_draws > 0) text += fmt::format(", about {:.4g}", p.width);
  }
  if (p.hoeffding_draws) {
    text += fmt::format(
        "\n            Hoeffding (theorem 4 of the paper) would ask {:.4g} independent draws per coalition",
        *p.hoeffding_draws);
  } else {
    text += plan.loss_range
                ? "\n            Hoeffding needs the width as a number"
                : fmt::format("\n            {} loss has no bound: Hoeffding has no answer", plan.loss);
  }
  if (p.expected_draws) {
    text +=
        fmt::format("\n            we expect about {:.2g}, from a pilot of {} draws with a width of {:.3g}",
                    *p.expected_draws, p.pilot_draws, *p.pilot_width);
    const bool population = plan.interval == "population";
    if (plan.pairs > 0 && *p.expected_draws > static_cast<double>(plan.pairs)) {
      text += fmt::format(", more than the {} pairs of these rows{}", plan.pairs,
                          population ? ": more rows are needed" : ", which are exact");
    } else if (population && *p.expected_draws > static_cast<double>(plan.instances)) {
      text += fmt::format(", if rows did not repeat; {} rows may be too few", plan.instances);
    }
  } else if (p.pilot_draws > 0) {
    text +=
        fmt::format("\n            a pilot of {} draws left an interval open: no expectation", p.pilot_draws);
  } else {
    text += "\n            no pilot: it would take too long, or not all coalitions are evaluated";
  }
  return text;
}

ordered_json plan_json(const Audit& audit, const std::optional<PrecisionPlan>& precision) {
  const RunPlan& plan = audit.plan();
  const Forecast& f = audit.forecast();
  ordered_json result = {{"schema", "hifi.plan/1"},
                         {"players", plan.players},
                         {"loss", plan.loss},
                         {"policy", plan.policy},
                         {"draws", plan.draws},
                         {"exact", plan.exact},
                         {"interval", plan.interval},
                         {"confidence", plan.confidence},
                         {"evaluations", f.evaluations},
                         {"memory_bytes", f.memory_bytes},
                         {"run_file_bytes", f.run_file_bytes},
                         {"seconds", f.seconds},
                         {"notes", audit.notes()}};
  if (precision) {
    result["precision"] = {{"width", precision->width},
                           {"loss_range", optional(plan.loss_range)},
                           {"hoeffding_draws", optional(precision->hoeffding_draws)},
                           {"expected_draws", optional(precision->expected_draws)},
                           {"pilot_draws", precision->pilot_draws},
                           {"pilot_width", optional(precision->pilot_width)}};
  }
  return result;
}

}  // namespace

Run add_plan(CLI::App& app) {
  auto* verb = app.add_subcommand(
      "plan", "What an explain or a circuit with the same flags would cost: evaluations, memory, time");
  auto options = std::make_shared<ExplainOptions>();
  auto threads = std::make_shared<std::size_t>(0);
  auto json = std::make_shared<std::string>();
  options->add_to(*verb);
  options->add_circuit_to(*verb);
  verb->add_option("--threads", *threads, "Threads (default: one per core)")->check(CLI::Range(1, 1024));
  verb->add_option("--json", *json, "Write the plan as JSON; - is standard output")->type_name("FILE");
  verb->footer(
      "With --precision a short pilot tells how many draws it may take.\n"
      "Example (`hifi demo --keep demo` makes the files):\n"
      "  hifi plan --model demo/model.json --data demo/data.csv --target y --exact\n"
      "Example of a circuit:\n"
      "  hifi plan --model gpt2 --task ioi --heads 9.9,9.6,10.0,7.3,8.6");
  return [options, threads, json] {
    const ExplainRequest request = options->request();
    if (!json->empty() && *json != "-") check_writable(*json);
    Workers workers(*threads);
    const Audit audit(request, options->shard(), workers);
    std::optional<PrecisionPlan> precision;
    if (audit.precision()) precision = plan_precision(audit, request, workers);
    const std::string text = plan_json(audit, precision).dump(2) + "\n";
    if (*json == "-") {
      fmt::print("{}", text);
      return;
    }
    if (!json->empty()) write_file(*json, text);
    fmt::print("{}{}\n", plan_text(audit),
               precision ? precision_text(*precision, audit.plan(), request.precision) : "");
  };
}

}  // namespace hifi::app
