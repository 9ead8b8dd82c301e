#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "audit/indices.h"
#include "command.h"
#include "core/files.h"
#include "finished_run.h"
#include "hifi/error.h"
#include "report/indices_text.h"

namespace hifi::app {

namespace {

struct IndicesVerb {
  std::string path;
  std::string players;
  std::string kinds;
  std::size_t order = 0;  // 0: two, or one if there is one player
  std::string json;
  std::string csv;
  std::string max_memory;
  std::size_t threads = 0;
  bool quiet = false;

  void operator()() {
    IndicesRequest request{.kinds = all_indices(), .order = order};
    if (!kinds.empty()) {
      request.kinds.clear();
      for (const std::string& name : split_list("--index", kinds)) {
        const IndexKind kind = parse_index(name);  // SII and sii are one
        if (std::find(request.kinds.begin(), request.kinds.end(), kind) == request.kinds.end())
          request.kinds.push_back(kind);
      }
    }
    if (!max_memory.empty()) request.max_memory = parse_bytes("--max-memory", max_memory);
    const std::vector<std::string> names = split_list("--players", players);
    const std::string csv_file = csv.empty() ? "" : (std::filesystem::path(csv) / "indices.csv").string();
    if (!json.empty() && json != "-") check_writable(json);
    if (!csv.empty()) {
      std::error_code ignored;
      if (!std::filesystem::is_directory(csv, ignored))
        throw input_error(fmt::format("--csv {}: there is no such folder", csv), "make it first");
      check_writable(csv_file);
    }
    const Indices indices = compute(request, names);
    std::vector<NewFile> files;
    if (!csv.empty()) files.push_back({csv_file, indices_csv(indices)});
    if (!json.empty() && json != "-") files.push_back({json, indices_json(indices)});
    write_files(files);
    if (json == "-") return print(indices_json(indices));
    if (!quiet) print(indices_table(indices));
  }

  Indices compute(IndicesRequest& request, const std::vector<std::string>& names) const {
    Workers workers(threads);
    const auto set_order = [&](std::size_t n) {
      if (request.order == 0) request.order = std::min<std::size_t>(2, n);
    };
    if (is_run_file(path)) {
      const FinishedRun run = open_finished_run(path, names);
      set_order(run.plan.players.size());
      return make_indices(run.plan, run.result, path, request, workers);
    }
    const LossTable table = read_loss_table(path, names);
    set_order(table.players.size());
    return make_indices(table, path, request, workers);
  }
};

}  // namespace

Run add_indices(CLI::App& app) {
  auto* verb = app.add_subcommand(
      "indices", "Signed interaction indices (SII, STII, FSII, ..) of a table of coalition losses or a run");
  auto run = std::make_shared<IndicesVerb>();
  verb->add_option("vocabulary", run->path,
                   "CSV or Parquet with columns coalition (like 0110) and loss; or a run file")
      ->required()
      ->type_name("TABLE|run.hifi");
  verb->add_option("--index", run->kinds,
                   "Moebius, SV, SII, BII, k-SII, STII, FSII, kADD-SHAP (default: all)")
      ->type_name("SII,STII");
  verb->add_option("--order", run->order, "Largest size of a set (default 2)")
      ->check(whole_number() & CLI::Range(std::size_t{1}, std::size_t{4096}))
      ->type_name("K");
  verb->add_option("--players", run->players, "Names of the players (default x1..xn)")->type_name("a,b");
  verb->add_option("--json", run->json, "Write the indices as JSON to FILE, or - for standard output")
      ->type_name("FILE|-");
  verb->add_option("--csv", run->csv, "Write indices.csv into this folder")->type_name("DIR");
  verb->add_option("--max-memory", run->max_memory, "Refuse an answer larger than this (default 4G)")
      ->type_name("SIZE");
  verb->add_option("--threads", run->threads, "Threads (default: one per core)")->check(CLI::Range(1, 1024));
  verb->add_flag("--quiet", run->quiet, "No table");
  verb->footer(
      "A loss enters as value v = -L: a useful player is positive.\n"
      "Example:\n"
      "  printf 'coalition,loss\\n00,0.5\\n10,0.5\\n01,0.5\\n11,0\\n' > and.csv && hifi indices and.csv "
      "--index SII,STII --order 2");
  return [run] { (*run)(); };
}

}  // namespace hifi::app
