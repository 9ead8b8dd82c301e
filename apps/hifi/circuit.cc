#include <fmt/format.h>

#include <functional>
#include <memory>
#include <optional>

#include "audit/circuit_checks.h"
#include "audit/circuit_seeds.h"
#include "audit/profile.h"
#include "circuit_options.h"
#include "command.h"
#include "explain_options.h"
#include "hifi/error.h"
#include "run.h"

namespace hifi::app {

namespace {

struct CircuitVerb {
  RunOptions options;
  ExplainRequest request;
  CircuitFlags circuit;
  Output output;
  std::string out;
  bool check_subsets = false;
  std::size_t seeds = 1;

  void operator()() {
    circuit.complete(request);
    options.complete(request);
    if (check_subsets && (!request.groups.empty() || options.shard().count > 1 || output.pairs != "all")) {
      throw Error(ErrorCode::usage, "--check-subsets does not go with --groups, --shard and --pairs");
    }
    if (seeds > 1 && (request.task != "ioi" || options.shard().count > 1 || output.pairs != "all")) {
      throw Error(ErrorCode::usage,
                  "--seeds makes other prompts: it goes with --task ioi, without --shard and --pairs");
    }
    const Shard shard = options.shard();
    output.check();
    check_run_file(out, shard, output);
    Workers workers(output.threads);
    Audit audit(request, shard, workers);
    parse_pairs(output.pairs, audit.plan().players);  // before the run, not at its end
    output.say(plan_text(audit));
    std::optional<RunFile> file;
    if (!out.empty()) file.emplace(RunFile::create(out, audit.plan().to_json()));
    run_and_report(audit, file ? &*file : nullptr, output, workers, checks(audit, workers));
  }

  // What is done after the run, if asked for.
  std::function<Appendix(const Profile&)> checks(Audit& audit, Workers& workers) const {
    if (!check_subsets && seeds == 1) return {};
    return [this, &audit, &workers](const Profile& profile) {
      audit.rest();
      Appendix appendix;
      if (seeds > 1) add_seeds(profile, appendix, workers);
      if (check_subsets) add_subsets(profile, appendix, workers);
      return appendix;
    };
  }

  void add_seeds(const Profile& profile, Appendix& appendix, Workers& workers) const {
    const SeedSpread spread = run_other_seeds(request, profile, seeds, workers, [&](std::uint64_t seed) {
      output.say(fmt::format("again with prompts of seed {}", seed));
    });
    appendix.text += seed_spread_text(spread);
    appendix.fields.emplace_back("seeds", seed_spread_json(spread));
  }

  void add_subsets(const Profile& profile, Appendix& appendix, Workers& workers) const {
    std::vector<SubsetCheck> list = plan_subset_checks(profile);
    run_subset_checks(request, profile, list, workers, [&](const SubsetCheck& check) {
      output.say(check.instead ? fmt::format("again with {} instead of {}", *check.instead, check.left_out)
                               : fmt::format("again without {}", check.left_out));
    });
    appendix.text += subset_checks_text(list);
    appendix.fields.emplace_back("subset_checks", subset_checks_json(list));
  }
};

}  // namespace

Run add_circuit(CLI::App& app) {
  auto* verb = app.add_subcommand(
      "circuit",
      "Audit attention heads of a GPT-2: which are needed alone, back each other up, or work together");
  auto run = std::make_shared<CircuitVerb>();
  ExplainRequest& r = run->request;
  verb->add_option("--model", r.model,
                   "A folder of the hub: config.json, model.safetensors, vocab.json, merges.txt")
      ->required()
      ->type_name("DIR");
  verb->add_option("--groups", r.groups, R"(The players: groups of heads, {"movers":["9.9","9.6"]})")
      ->type_name("G.json");
  run->circuit.add_to(*verb, r);
  verb->get_option("--task")->required();
  run->options.add_to(*verb, r);
  verb->add_flag("!--no-fast-lattice", r.fast_lattice,
                 "A forward pass per coalition, to prove that the shortcut is right");
  verb->add_option("--seeds", run->seeds,
                   "Repeat the audit with this many sets of prompts, and add intervals over them")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1000}))
      ->type_name("K");
  verb->add_flag(
      "--check-subsets", run->check_subsets,
      "Repeat the audit without each head, and with others of its role: does the rest keep its place?");
  verb->add_option("--out", run->out,
                   "Keep the run in this file, so that it can be resumed, merged and analysed")
      ->type_name("run.hifi");
  run->output.add_to(*verb);
  verb->footer(
      "Heads that are no players stay intact.\n"
      "Example:\n"
      "  hifi circuit --model gpt2 --task ioi --heads 9.9,9.6,10.0,7.3,8.6 --json profile.json");
  return [run] { (*run)(); };
}

}  // namespace hifi::app
