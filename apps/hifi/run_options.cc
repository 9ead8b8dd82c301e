#include "run_options.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "core/files.h"
#include "hifi/error.h"
#include "sampling/budget.h"
#include "sampling/speed.h"

namespace hifi::app {

RunWords usual_words() {
  return {.exact = "All coalitions x all pairs of instance and background row",
          .budget = fmt::format("Evaluations of (coalition, draw), default {}, for tree models {}",
                                kDefaultBudget, kWholeLatticeBudget),
          .per_instance = "A profile of every row of the data, too"};
}

void RunOptions::add_to(CLI::App& verb, const RunFields& r, const RunWords& words) {
  auto* exact = verb.add_flag("--exact", r.exact, words.exact);
  verb.add_option("--budget", r.budget, words.budget)->check(whole_number())->type_name("N")->excludes(exact);
  verb.add_option("--time", r.time,
                  "A budget by what the model manages in this time: 30s, 5m, 2h (other draws at every run)")
      ->type_name("T")
      ->excludes(exact);
  verb.add_option(
          "--precision", r.precision,
          "Stop when the widest interval of U, R, S and Lmax is narrower: a number, or 2% of L({}) - L(all)")
      ->type_name("W")
      ->excludes(exact);
  verb.add_option("--policy", r.policy, "auto, exhaustive or paper")
      ->check(CLI::IsMember({"auto", "exhaustive", "paper"}))
      ->type_name("POLICY");
  verb.add_flag("--per-instance", r.per_instance, words.per_instance);
  verb.add_flag(
      "--amortise", r.amortise,
      "With --per-instance beyond 2^n: one search for all rows. Cheaper; its contexts suit the mean");
  verb.add_option("--seed", r.seed, "Seed of all random choices (default 0)")
      ->check(whole_number())
      ->type_name("N");
  verb.add_option("--interval", r.interval,
                  "population, montecarlo; conservative bands: hoeffding, bernstein, paper")
      ->check(CLI::IsMember({"population", "montecarlo", "hoeffding", "bernstein", "paper"}))
      ->type_name("KIND");
  verb.add_option("--confidence", r.confidence, "Confidence of the intervals (default 0.95)")->type_name("P");
  verb.add_option("--shard", shard_, "Do the I-th of K parts; `hifi merge` adds them up")->type_name("I/K");
  verb.add_option("--max-memory", max_memory_, "Refuse to need more (default 4G)")->type_name("SIZE");
}

void RunOptions::complete(const RunFields& request) const {
  if (!(request.confidence >= 0.5 && request.confidence <= 0.9999)) {  // also NaN
    throw Error(ErrorCode::usage,
                fmt::format("--confidence {}: must lie between 0.5 and 0.9999", request.confidence));
  }
  if (request.amortise && !request.per_instance) {
    throw Error(ErrorCode::usage, "--amortise shares a search among instances: it needs --per-instance");
  }
  if (request.per_instance && (!shard_.empty() || !request.precision.empty() || request.policy == "paper")) {
    throw Error(ErrorCode::usage, "--per-instance does not go with --shard, --precision or --policy paper");
  }
  if (!request.time.empty()) {
    parse_time(request.time);
    if (!shard_.empty()) throw Error(ErrorCode::usage, "--shard: a run with --time cannot be divided");
  }
  if (!request.precision.empty()) {
    Precision::parse(request.precision);
    if (!shard_.empty()) throw Error(ErrorCode::usage, "--shard: a run with --precision cannot be divided");
  }
  if (request.policy == "paper" && !shard_.empty()) {
    throw Error(ErrorCode::usage,
                "--shard: the paper's policy cannot be divided, every choice depends on those before");
  }
  if (request.policy == "paper" && request.exact) {
    throw Error(ErrorCode::usage, "--exact: the paper's policy samples; use --policy exhaustive or none");
  }
  if (!max_memory_.empty()) request.max_memory = parse_bytes("--max-memory", max_memory_);
}

Shard RunOptions::shard() const {
  if (shard_.empty()) return {};
  Shard shard{0, 0};
  const char* end = shard_.data() + shard_.size();
  const auto first = std::from_chars(shard_.data(), end, shard.index);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == '/') {
    const auto second = std::from_chars(first.ptr + 1, end, shard.count);
    if (second.ec == std::errc() && second.ptr == end && shard.index >= 1 && shard.index <= shard.count)
      return shard;
  }
  throw Error(ErrorCode::usage, fmt::format("--shard {}: must be I/K with I from 1 to K", shard_));
}

void check_run_file(const std::string& out, const Shard& shard, const Output& output) {
  if (shard.count > 1 && (out.empty() || !output.json.empty() || !output.csv.empty())) {
    throw Error(ErrorCode::usage, "--shard needs --out and gives no profile of its own",
                "run every shard with its own --out, then `hifi merge` and `hifi decompose`");
  }
  if (out.empty()) return;
  if (is_there(out)) {
    throw input_error(fmt::format("{}: exists already", out),
                      "continue it with `hifi resume`, remove it, or choose another name");
  }
  check_writable(out);
}

}  // namespace hifi::app
