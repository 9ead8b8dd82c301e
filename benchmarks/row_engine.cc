// The row engine: what an evaluation costs outside the model, checked against the definition, then timed with
// a backend that returns at once.
//
//   row_engine                  nanoseconds per evaluation, then memory beyond the tables
//   row_engine N THREADS        one case, for a profiler
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "core/random.h"
#include "game/draws.h"
#include "game/table_game.h"
#include "vocabulary/lattice.h"

namespace {

using namespace hifi;

class SumModel : public Model {
 public:
  SumModel(std::size_t width, bool instant) : instant_(instant) {
    info_.width = width;
    info_.path = "sum";
  }
  const ModelInfo& info() const override { return info_; }
  void predict(std::span<const double> rows, std::size_t count, std::span<double> out) const override {
    if (instant_) return;
    for (std::size_t r = 0; r < count; ++r) out[r] = value(rows.subspan(r * info_.width, info_.width));
  }
  static double value(std::span<const double> row) {
    double sum = 0;
    for (std::size_t c = 0; c < row.size(); ++c) sum += static_cast<double>(c + 1) * row[c];
    return sum;
  }

 private:
  ModelInfo info_;
  bool instant_;
};

// Columns of continuous numbers, or of 0 and 1, where half of all columns agree and most rows are duplicates.
Frame random_frame(std::size_t rows, std::size_t width, bool binary) {
  RandomStream stream(1, Purpose::probe);
  Frame frame{.rows = rows, .width = width, .values = std::vector<double>(rows * width)};
  for (double& value : frame.values) value = binary ? std::floor(2 * stream.uniform()) : stream.uniform();
  return frame;
}

// A game on a table that is its own background.
struct Bench {
  Bench(std::size_t n, std::size_t rows, std::uint64_t draw_count, bool binary, bool instant)
      : frame(random_frame(rows, n, binary)),
        truth(rows, 0.5),
        model(n, instant),
        loss({.kind = LossKind::squared}, model.info()),
        draws({.instances = rows, .background_rows = rows, .background_is_data = true, .draws = draw_count}),
        game(model, loss, make_players(n), frame, truth, frame, model.info().batch_rows) {}

  const Players& make_players(std::size_t n) {
    for (std::uint32_t i = 0; i < n; ++i) {
      players.names.push_back(fmt::format("x{}", i));
      players.columns.push_back({i});
    }
    return players;
  }

  // As run_exhaustive does it: block by block, about a million evaluations at a time.
  BlockSums run(Workers& workers) {
    const std::size_t lattice = std::size_t{1} << game.players();
    BlockSums sums = zero_sums(lattice, draws.background_blocks(), draws.round_blocks());
    const std::uint64_t unit = std::max<std::uint64_t>(1, (1 << 20) / std::min(lattice, kLatticeChunk));
    std::vector<Draw> batch;
    for (std::size_t b = 0; b < draws.instance_blocks(); ++b) {
      for (std::uint64_t done = 0; done < draws.block_draws(b); done += batch.size()) {
        batch.resize(std::min(unit, draws.block_draws(b) - done));
        draws.fill(b, done, batch);
        game.accumulate(batch, sums, workers);
      }
    }
    return sums;
  }

  Players players;
  Frame frame;
  std::vector<double> truth;
  SumModel model;
  Loss loss;
  DrawPlan draws;
  TableGame game;
};

// The sums of every 7th coalition from the definition.
void verify(std::size_t n, bool binary, std::size_t threads) {
  Bench bench(n, 50, 40, binary, false);
  Workers workers(threads);
  const BlockSums sums = bench.run(workers);
  std::vector<Draw> all;
  for (std::size_t b = 0; b < bench.draws.instance_blocks(); ++b) {
    std::vector<Draw> block(bench.draws.block_draws(b));
    bench.draws.fill(b, 0, block);
    all.insert(all.end(), block.begin(), block.end());
  }
  for (std::size_t s = 0; s < std::size_t{1} << n; s += 7) {
    double squares = 0;
    for (const Draw& draw : all) {
      std::vector<double> row(bench.frame.row(draw.background).begin(),
                              bench.frame.row(draw.background).end());
      for (std::size_t i = 0; i < n; ++i) {
        if ((s >> i) & 1U) row[i] = bench.frame.row(draw.instance)[i];
      }
      const double loss = std::pow(SumModel::value(row) - 0.5, 2);
      squares += loss * loss;
    }
    if (std::abs(squares - sums.squares[s]) > 1e-12 * squares) {
      fmt::print(stderr, "coalition {}: {} instead of {}\n", s, sums.squares[s], squares);
      std::exit(1);
    }
  }
}

void time_case(std::size_t n, bool binary, std::size_t threads) {
  const std::uint64_t count = (std::uint64_t{1} << 25) >> n;
  Bench bench(n, 4096, count, binary, true);
  Workers workers(threads);
  double clock_best = INFINITY;
  double processor_best = INFINITY;
  for (int k = 0; k < 5; ++k) {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t processor_start = std::clock();
    bench.run(workers);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    clock_best = std::min(clock_best, took.count());
    processor_best =
        std::min(processor_best, static_cast<double>(std::clock() - processor_start) / CLOCKS_PER_SEC);
  }
  const auto evaluations = static_cast<double>(count << n);
  fmt::print(
      "n={:2} {:13} {} thread{}  {:6.1f} ns, processor {:6.1f} ns per evaluation; {:.0f} % of rows sent\n", n,
      binary ? "duplicates" : "no duplicates", threads, threads > 1 ? "s" : " ",
      1e9 * clock_best / evaluations, 1e9 * processor_best / evaluations,
      100 * static_cast<double>(bench.game.model_use().rows) / (5 * evaluations));
}

// The peak of a child process that does nothing else.
double peak_beyond_tables(std::size_t rows) {
  constexpr std::size_t kPlayers = 12;
  const pid_t child = fork();
  if (child == 0) {
    Bench bench(kPlayers, rows, 1000, false, true);
    Workers workers(1);
    bench.run(workers);
    _exit(0);
  }
  rusage usage{};
  wait4(child, nullptr, 0, &usage);
  const auto tables = static_cast<double>(8 * rows * (kPlayers + 1));
  return (static_cast<double>(usage.ru_maxrss) * 1024 - tables) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) {
    time_case(std::strtoul(argv[1], nullptr, 10), false, std::strtoul(argv[2], nullptr, 10));
    return 0;
  }
  // First, before this process has a peak of its own that a child would inherit.
  const double small = peak_beyond_tables(1'000);
  const double large = peak_beyond_tables(100'000);
  for (const std::size_t n : {3, 8, 12, 16}) {
    for (const bool binary : {false, true}) {
      for (const std::size_t threads : {1, 2}) verify(n, binary, threads);
    }
  }
  fmt::print("answers verified\n");
  for (const std::size_t n : {8, 12, 16}) {
    for (const bool binary : {false, true}) {
      for (const std::size_t threads : {1, 2}) time_case(n, binary, threads);
    }
  }
  fmt::print(
      "peak memory beyond the tables, n=12, 1,000 draws: {:.1f} MB for 1,000 rows, {:.1f} MB for 100,000\n",
      small, large);
  return 0;
}
