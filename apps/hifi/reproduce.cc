#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include "command.h"
#include "core/files.h"
#include "experiments/e2.h"
#include "experiments/experiment.h"
#include "hifi/error.h"

namespace hifi::app {

namespace {

const Experiment& find_experiment(const std::string& name) {
  std::string known;
  for (const Experiment& experiment : experiments()) {
    if (experiment.key == name) return experiment;
    known += (known.empty() ? "" : ", ") + experiment.key;
  }
  throw Error(ErrorCode::usage, fmt::format("reproduce {}: there is no such experiment", name),
              "there are: " + known);
}

// Networks and audits have no common unit, so that only the share and the time are told.
Progress::Listener share_of_work(bool quiet) {
  if (quiet || isatty(STDERR_FILENO) == 0) return {};
  return [](const ProgressReport& report) {
    const double share = static_cast<double>(report.done) / static_cast<double>(report.total);
    constexpr int kCells = 30;
    std::string bar;
    for (int k = 0; k < kCells; ++k) bar += k < share * kCells ? "█" : "·";
    fmt::print(stderr, "\r{} {:3.0f} %  {} \x1b[K{}", bar, 100 * share,
               report.remaining_seconds < 0 ? "" : fmt::format("{:.0f} s left", report.remaining_seconds),
               report.done == report.total ? "\r\x1b[K" : "");
    std::fflush(stderr);
  };
}

struct Reproduce {
  std::string name;
  std::string out;
  std::string images;                     // folder for those of e2
  ExperimentOptions options{.seeds = 0};  // 0: by --quick
  Output output;                          // threads, quiet

  void operator()() {
    const Experiment& experiment = find_experiment(name);
    if (!options.model.empty() && name != "e3" && options.nih.empty()) {
      throw Error(ErrorCode::usage, fmt::format("--model: experiment {} brings its own models", name),
                  "--model belongs to e3, and to e2 with --nih");
    }
    if (name != "e2" && !(options.nih + options.layer + images).empty())
      throw Error(ErrorCode::usage,
                  fmt::format("reproduce {}: --nih, --layer and --write-images belong to e2", name));
    if (!images.empty()) return write_images();
    if (!out.empty()) make_folder(out, experiment.key + ".json");
    if (options.seeds == 0) options.seeds = options.quick ? 2 : 5;
    output.say(fmt::format("reproduce {}: {}", experiment.key, experiment.about));
    Workers workers(output.threads);
    const auto start = std::chrono::steady_clock::now();
    const ExperimentResult result = experiment.run(options, workers, share_of_work(output.quiet));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (!out.empty()) write_files(files(result));
    if (!output.quiet) print(experiment_text(result));
    output.say(fmt::format("\n{:.0f} s on {} threads{}", took.count(), workers.threads(),
                           out.empty() ? "; --out DIR keeps every number as CSV and JSON"
                                       : fmt::format("; all numbers are in {}", out)));
  }

  static void make_folder(const std::string& folder, const std::string& first_file) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw input_error(fmt::format("{}: cannot be created: {}", folder, error.message()));
    check_writable((std::filesystem::path(folder) / first_file).string());
  }

  void write_images() const {
    make_folder(images, "labels.csv");
    std::vector<NewFile> list = radiograph_files(e2_radiographs(options));
    for (NewFile& one : list) one.path = (std::filesystem::path(images) / one.path).string();
    write_files(list);
    output.say(fmt::format("{} synthetic radiographs, labels.csv and findings.csv are in {}", list.size() - 2,
                           images));
  }

  std::vector<NewFile> files(const ExperimentResult& result) const {
    std::vector<NewFile> list = {{file(result.key + ".json"), experiment_json(result, options)},
                                 {file(result.key + ".txt"), experiment_text(result)}};
    for (const ResultTable& table : result.tables)
      list.push_back({file(table.key + ".csv"), table_csv(table)});
    return list;
  }

  std::string file(const std::string& base) const { return (std::filesystem::path(out) / base).string(); }
};

}  // namespace

Run add_reproduce(CLI::App& app) {
  auto* verb = app.add_subcommand("reproduce", "The paper's experiments, ours beside the paper's figures");
  auto run = std::make_shared<Reproduce>();
  std::string known;
  for (const Experiment& e : experiments())
    known += fmt::format("{}{}: {}", known.empty() ? "" : "; ", e.key, e.about);
  verb->add_option("experiment", run->name, known)->required()->type_name("e1|e2|e3");
  verb->add_option("--out", run->out, "Write the tables as CSV and everything as JSON into this folder")
      ->type_name("DIR");
  verb->add_option("--seed", run->options.seed, "Seed of all repetitions (default 0)")
      ->check(whole_number())
      ->type_name("N");
  verb->add_option("--seeds", run->options.seeds, "Repetitions (default 5; with --quick 2)")
      ->check(whole_number() & CLI::Range(std::size_t{1}, std::size_t{1000}))
      ->type_name("N");
  verb->add_option("--model", run->options.model,
                   "e3: a GPT-2 as the hub stores it (default: the small one that ships with hifi); e2 with "
                   "--nih: an ONNX or TorchScript file")
      ->type_name("PATH");
  verb->add_option("--nih", run->options.nih, "e2: folder of NIH ChestX-ray14 images with BBox_List_2017.csv")
      ->type_name("DIR");
  verb->add_option("--layer", run->options.layer,
                   "e2 with --nih: layer of GradCAM (default: the last convolution)")
      ->type_name("NAME");
  verb->add_option("--write-images", run->images,
                   "e2: write the synthetic images with labels and boxes, and stop")
      ->type_name("DIR");
  verb->add_flag("--quick", run->options.quick, "A smaller experiment, to look at");
  verb->add_option("--threads", run->output.threads, "Threads (default: one per core)")
      ->check(CLI::Range(1, 1024));
  verb->add_flag("--quiet", run->output.quiet, "No tables, no progress");
  verb->footer(
      "The same seed gives the same files on any number of threads. Example:\n  hifi reproduce e1 --quick "
      "--out e1");
  return [run] { (*run)(); };
}

}  // namespace hifi::app
