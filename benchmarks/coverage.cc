// Coverage, width, bias and error of the intervals and estimates on worlds with known truth, through the same
// Audit that `hifi explain` runs. Prints Markdown tables.
//
//   coverage population|montecarlo|draws|dummy REPETITIONS [FOLDER]
//
// FOLDER gets the run file and the profile of the first ten repetitions of every cell.
#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "core/files.h"
#include "known_truth.h"
#include "report/profile_json.h"

namespace {

using namespace hifi;

constexpr int kKept = 10;

struct Job {
  int repetitions;
  std::string folder;
  Workers workers{0};
  std::vector<std::pair<std::string, std::vector<Tally>>> cells;  // label, by channel
  std::vector<std::string> kept;

  // One cell of the table; `run` makes the profile of a repetition, in a run file if it is given a path.
  void cell(const std::string& label, const ScanResult& truth, bool population,
            const std::function<Profile(std::uint64_t, const std::string&)>& run) {
    std::vector<Tally> tallies(kChannels.size());
    for (int r = 0; r < repetitions; ++r) {
      const std::string path =
          folder.empty() || r >= kKept ? "" : fmt::format("{}/{}_{}", folder, cells.size(), r);
      const Profile profile = run(static_cast<std::uint64_t>(r), path.empty() ? "" : path + ".hifi");
      tally(profile, truth, population, tallies);
      if (path.empty()) continue;
      write_file(path + ".json", profile_json(profile));
      kept.push_back(fmt::format("{}\t{}\n", label, path));
    }
    cells.emplace_back(label, tallies);
  }

  void table(const std::string& title, const std::function<std::string(const Tally&)>& entry) const {
    std::string names, rule;
    for (const std::string& c : kChannels) {
      names += " " + c + " |";
      rule += "---|";
    }
    fmt::print("\n{}, {} repetitions:\n\n| setting |{}\n|---|{}\n", title, repetitions, names, rule);
    for (const auto& [label, tallies] : cells) {
      std::string line = fmt::format("| {} |", label);
      for (const Tally& t : tallies) line += " " + entry(t) + " |";
      fmt::print("{}\n", line);
    }
  }
  void finish() const {
    if (folder.empty()) return;
    std::string list;
    for (const std::string& line : kept) list += line;
    write_file(folder + "/runs.txt", list);
  }
};

std::string coverage_entry(const Tally& t) {
  return fmt::format("{:.1f} ({:.2g})", 100 * t.covered / t.count, t.width / t.count);
}

std::string error_entry(const Tally& t) {
  return fmt::format("{:+.3f} → {:+.3f}, {:.3f} → {:.3f}", t.plugin_bias / t.count, t.bias / t.count,
                     std::sqrt(t.plugin_square / t.count), std::sqrt(t.square / t.count));
}

std::string ratio_entry(const Tally& t) {
  return t.plugin_absolute == 0 ? "-" : fmt::format("{:.2f}", t.absolute / t.plugin_absolute);
}

constexpr const char* kErrorTitle =
    "Bias of plug-in → estimate, root mean square error of plug-in → estimate";

void population(Job& job) {
  for (const Setting& s : {xor3(), xor_and(), eight()}) {
    const ScanResult truth = scan_dense(s.players, s.population, {}, job.workers);
    for (const std::size_t rows : {128U, 512U}) {
      for (const bool separate : {false, true}) {
        job.cell(
            fmt::format("{}, {} rows, {}", s.name, rows, separate ? "64 other rows" : "background = data"),
            truth, true, [&](std::uint64_t r, const std::string& keep) {
              const std::uint64_t seed = 2 * r + 1000;
              const Table data = make_table(s, rows, seed, true);
              std::optional<Table> background;
              if (separate) background = make_table(s, 64, seed + 1, false);
              return explain(s, data, background, {.seed = seed}, job.workers, keep);
            });
      }
    }
  }
  job.table("Population intervals, nominal 95 %: coverage in percent (mean width)", coverage_entry);
  job.table(kErrorTitle, error_entry);
}

void montecarlo(Job& job) {
  constexpr std::size_t kRows = 256;
  for (const Setting& s : {xor3(), xor_and(), eight()}) {
    const Table data = make_table(s, kRows, 7, true);
    const Profile exact = explain(s, data, {}, {.exact = true, .interval = "montecarlo"}, job.workers);
    const ScanResult truth{.features = exact.features, .pairs = exact.pairs};
    for (const std::size_t rounds : {8U, 32U, 128U}) {
      job.cell(fmt::format("{}, {} rounds", s.name, rounds), truth, false,
               [&](std::uint64_t r, const std::string& keep) {
                 const std::uint64_t budget = (std::uint64_t{kRows} * rounds) << s.players;
                 return explain(s, data, {}, {.budget = budget, .seed = r, .interval = "montecarlo"},
                                job.workers, keep);
               });
    }
  }
  job.table(
      fmt::format("Monte Carlo intervals on {0} rows of {0} rounds against the exact lattice: coverage in "
                  "percent (mean width)",
                  kRows),
      coverage_entry);
  job.table(kErrorTitle, error_entry);
}

// Fresh rows for every draw, as many as the paper's budget of 30,000 pays for 256 coalitions, and more.
void draws(Job& job) {
  for (const Setting& s : {xor_and(), eight()}) {
    const ScanResult truth = scan_dense(s.players, s.population, {}, job.workers);
    for (const std::size_t rows : {117U, 512U}) {
      job.cell(fmt::format("{}, {} draws", s.name, rows), truth, true,
               [&](std::uint64_t r, const std::string& keep) {
                 const std::uint64_t seed = 2 * r + 5000;
                 const std::uint64_t budget = std::uint64_t{rows} << s.players;
                 return explain(s, make_table(s, rows, seed, true), make_table(s, rows, seed + 1, false),
                                {.policy = "exhaustive", .budget = budget, .seed = seed}, job.workers, keep);
               });
    }
  }
  job.table("Coverage in percent (mean width) of population intervals", coverage_entry);
  job.table("Mean absolute error of the population estimate, relative to that of the plug-in", ratio_entry);
  job.table(kErrorTitle, error_entry);
}

void dummy(Job& job) {
  const Setting s = near_dummy();
  std::map<std::string, int> verdicts;
  double largest = 0, threshold = 0;
  for (int r = 0; r < job.repetitions; ++r) {
    const auto seed = static_cast<std::uint64_t>(2 * r + 9000);
    const Table background = make_table(s, 128, seed + 1, false);
    const Profile profile = explain(
        s, make_table(s, 128, seed, true), background,
        {.policy = "exhaustive", .budget = std::uint64_t{128} << s.players, .seed = seed}, job.workers);
    ++verdicts[*profile.features[15].verdict];
    largest += *profile.features[15].Lmax.plugin / job.repetitions;
    threshold += *profile.coverage.threshold / job.repetitions;
  }
  fmt::print(
      "\nThe near-dummy of 16 players, 128 draws, {} repetitions (plug-in Lmax {:.2f}, threshold {:.2f}, "
      "truth 0.08):\n\n| verdict | share |\n|---|---|\n",
      job.repetitions, largest, threshold);
  for (const auto& [verdict, count] : verdicts)
    fmt::print("| {} | {:.1f} % |\n", verdict, 100.0 * count / job.repetitions);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)(Job&)> jobs = {
      {"population", population}, {"montecarlo", montecarlo}, {"draws", draws}, {"dummy", dummy}};
  const auto found = argc > 1 ? jobs.find(argv[1]) : jobs.end();
  if (argc > 1 && found == jobs.end()) {
    fmt::print(stderr, "usage: coverage [population|montecarlo|draws|dummy REPETITIONS [FOLDER]]\n");
    return 2;
  }
  if (argc == 1) {  // among all benchmarks: a few repetitions of everything
    for (const auto& [name, run] : jobs) {
      Job job{.repetitions = 4};
      run(job);
    }
    return 0;
  }
  Job job{.repetitions = argc > 2 ? std::atoi(argv[2]) : 100, .folder = argc > 3 ? argv[3] : ""};
  found->second(job);
  job.finish();
  return 0;
}
