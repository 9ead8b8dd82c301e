#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "audit/image_run.h"
#include "audit/precision_plan.h"
#include "command.h"
#include "core/files.h"
#include "explain_options.h"
#include "image_options.h"

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

ordered_json plan_json(const RunPlan& plan, const ordered_json& cost) {
  ordered_json result = {{"schema", "hifi.plan/1"},   {"players", plan.players},      {"loss", plan.loss},
                         {"policy", plan.policy},     {"draws", plan.draws},          {"exact", plan.exact},
                         {"interval", plan.interval}, {"confidence", plan.confidence}};
  result.update(cost);
  return result;
}

ordered_json image_json(const ImageSubject& s) {
  return plan_json(image_plan(s, s.request.precision.empty() ? 0 : 1),
                   {{"evaluations", s.calls() * s.own_images()},
                    {"memory_bytes", s.bytes},
                    {"seconds", forecast_seconds(s)},
                    {"images", s.images()},
                    {"calls_per_image", s.calls()},
                    {"notes", s.notes}});
}

ordered_json audit_json(const Audit& audit, const std::optional<PrecisionPlan>& precision) {
  const RunPlan& plan = audit.plan();
  const Forecast& f = audit.forecast();
  ordered_json result = plan_json(plan, {{"evaluations", f.evaluations},
                                         {"memory_bytes", f.memory_bytes},
                                         {"run_file_bytes", f.run_file_bytes},
                                         {"seconds", f.seconds},
                                         {"notes", audit.notes()}});
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

// What every form of the verb has beside the flags of its audit.
struct PlanOutput {
  std::size_t threads = 0;
  std::string json;

  void add_to(CLI::App& verb) {
    verb.add_option("--threads", threads, "Threads (default: one per core)")->check(CLI::Range(1, 1024));
    verb.add_option("--json", json, "Write the plan as JSON; - is standard output")->type_name("FILE");
  }
  void check() const {
    if (!json.empty() && json != "-") check_writable(json);
  }
  void write(const ordered_json& plan, const std::string& text) const {
    const std::string document = plan.dump(2) + "\n";
    if (json == "-") return print(document);
    if (!json.empty()) write_file(json, document);
    print(text + "\n");
  }
};

struct PlanVerb {
  ExplainOptions options;
  PlanOutput output;

  void operator()() const {
    const ExplainRequest request = options.request();
    output.check();
    Workers workers(output.threads);
    const Audit audit(request, options.shard(), workers);
    std::optional<PrecisionPlan> precision;
    if (audit.precision()) precision = plan_precision(audit, request, workers);
    output.write(
        audit_json(audit, precision),
        plan_text(audit) + (precision ? precision_text(*precision, audit.plan(), request.precision) : ""));
  }
};

struct PlanImage {
  ImageOptions options;
  PlanOutput output;

  void operator()() const {
    const ImageRequest request = options.request();
    output.check();
    Workers workers(output.threads);
    const ImageSubject subject = open_image_subject(request, workers, options.shard());
    output.write(image_json(subject), plan_text(subject));
  }
};

}  // namespace

Run add_plan(CLI::App& app) {
  auto* verb = app.add_subcommand(
      "plan", "What an explain or a circuit with the same flags would cost: evaluations, memory, time");
  auto plan = std::make_shared<PlanVerb>();
  plan->options.add_to(*verb);
  plan->options.add_circuit_to(*verb);
  plan->output.add_to(*verb);
  auto* image = verb->add_subcommand("image", "What an image with the same flags would cost");
  auto plan_image = std::make_shared<PlanImage>();
  plan_image->options.add_to(*image);
  plan_image->output.add_to(*image);
  verb->get_option("--model")->required(false);  // it stands behind the word image, if that is there
  verb->footer(
      "With --task it is about `hifi circuit`; `hifi plan image` takes the flags of `hifi image`.\n"
      "With --precision a short pilot tells how many draws it may take.\n"
      "Example (`hifi demo --keep demo` makes the files):\n"
      "  hifi plan --model demo/model.json --data demo/data.csv --target y --exact");
  return [=] {
    if (image->parsed()) return (*plan_image)();
    (*plan)();
  };
}

}  // namespace hifi::app
