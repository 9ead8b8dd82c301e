#include "circuit_options.h"

#include "command.h"

namespace hifi::app {

void CircuitFlags::add_to(CLI::App& verb, ExplainRequest& r) {
  verb.add_option("--task", r.task, "ioi, or a task file (schema hifi.task/1)")->type_name("ioi|FILE.json");
  verb.add_option("--prompts", r.prompts,
                  "Prompts of --task ioi, and as many reference prompts (default 100)")
      ->check(whole_number())
      ->type_name("N");
  verb.add_option("--heads", heads_,
                  "The players: these heads, layer.head, or all (default: those that have a role)")
      ->check([](const std::string& text) { return text.empty() ? "names no head" : std::string(); })
      ->type_name("9.9,9.6|all")
      ->excludes("--groups");
  verb.add_option("--ablation", r.ablation, "What absent heads give: mean (default), zero or resample")
      ->check(CLI::IsMember({"mean", "zero", "resample"}))
      ->type_name("HOW");
  verb.add_option("--measure", r.measure,
                  "logit-difference (default), log-probability, probability or kl (to the intact model)")
      ->check(CLI::IsMember({"logit-difference", "log-probability", "probability", "kl"}))
      ->type_name("WHAT");
  verb.add_flag("--freeze-layernorm", r.freeze_layernorm,
                "Read with the scale of the final LayerNorm of the intact run");
}

void CircuitFlags::complete(ExplainRequest& request) const {
  request.heads = split_list("--heads", heads_);
}

}  // namespace hifi::app
