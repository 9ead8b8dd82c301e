// networks: what the row engine and the conversion of rows add to a network, with one that answers at once.
// networks MODEL COLUMNS [BATCH]: the row engine on a network beside its library called directly on batches
// of the same shape that lie ready. benchmarks/networks.py makes the models.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/files.h"
#include "core/parallel.h"
#include "core/random.h"
#include "game/table_game.h"
#include "model/network_model.h"
#include "model/onnx_document.h"
#include "timing.h"
#include "vocabulary/lattice.h"

namespace {

using namespace hifi;

constexpr std::size_t kThreads = 2;
constexpr std::size_t kRows = 256;
constexpr double kSeconds = .3;  // of one turn
constexpr int kTurns = 7;

Frame random_frame(std::size_t rows, std::size_t width) {
  RandomStream stream(1, Purpose::probe);
  Frame frame{.rows = rows, .width = width, .values = std::vector<double>(rows * width)};
  for (double& value : frame.values) value = static_cast<float>(2 * stream.uniform() - 1);
  return frame;
}

OpenedNetwork open_direct(const std::string& path, std::size_t width, std::size_t batch) {
  const std::string content = read_file(path);
  const NetworkOptions options{.path = path, .output = "", .rows = batch, .shape = {width}};
  return onnx::looks_like_onnx(content) ? open_onnx_network(content, options)
                                        : open_torch_network(content, options);
}

// What the game must have asked the network: the masked rows of one draw, through a session of our own.
bool verify(TableGame& game, const Network& network, const Frame& frame, const Draw& draw, Workers& workers) {
  const std::size_t n = frame.width, all = std::size_t{1} << n;
  std::vector<double> losses(all);
  game.losses(CoalitionList::lattice(n, 0, all), std::span(&draw, 1), losses, workers);
  const auto session = network.session();
  const std::size_t shape = network.info().rows;
  std::vector<double> out(shape);
  for (std::size_t first = 0; first < all; first += shape) {
    auto* input = static_cast<float*>(session->input(0));
    for (std::size_t r = 0; r < shape; ++r) {
      for (std::size_t c = 0; c < n; ++c) {
        const bool inside = ((first + r) >> c) & 1U;
        input[r * n + c] = static_cast<float>(frame.row(inside ? draw.instance : draw.background)[c]);
      }
    }
    session->run(shape, out);
    for (std::size_t r = 0; r < std::min(shape, all - first); ++r) {
      if (std::abs(out[r] * out[r] - losses[first + r]) > 1e-5 * (1 + losses[first + r])) return false;
    }
  }
  return true;
}

// A game on a table that is its own background, a player for every column.
struct Setting {
  Setting(std::unique_ptr<Model> opened, std::size_t n)
      : model(std::move(opened)),
        frame(random_frame(kRows, n)),
        truth(kRows, 0.0),
        loss({.kind = LossKind::squared}, model->info()),
        game(*model, loss, make_players(n), frame, truth, frame, model->info().batch_rows) {}

  const Players& make_players(std::size_t n) {
    for (std::uint32_t i = 0; i < n; ++i) {
      players.names.push_back(fmt::format("x{}", i));
      players.columns.push_back({i});
    }
    return players;
  }

  std::unique_ptr<Model> model;
  Players players;
  Frame frame;
  std::vector<double> truth;
  Loss loss;
  TableGame game;
};

Draw draw_of(std::size_t d) {
  return {.instance = static_cast<std::uint32_t>(d % kRows),
          .background = static_cast<std::uint32_t>((d + 1 + d / kRows) % kRows)};
}

void run(const std::string& path, std::size_t n, std::size_t batch) {
  const OpenedNetwork direct = open_direct(path, n, batch);
  const Network& network = *direct.network;
  Setting setting(
      open_model(path, std::vector<Column>(n), {.batch = batch == 0 ? std::nullopt : std::optional(batch)}),
      n);
  TableGame& game = setting.game;
  Workers workers(kThreads);
  if (!verify(game, network, setting.frame, draw_of(0), workers)) {
    fmt::print(stderr, "{}: the losses of the game are not those of the network\n", path);
    std::exit(1);
  }
  std::vector<std::unique_ptr<NetworkSession>> sessions;
  for (std::size_t t = 0; t < kThreads; ++t) sessions.push_back(network.session());
  std::vector<double> answers(network.info().rows);
  const double once = benchmarks::best_of(20, [&] { sessions[0]->run(answers.size(), answers); }).processor;
  const std::size_t per_draw = (std::size_t{1} << n) / network.info().rows;  // runs
  const std::size_t count = kThreads * std::max<std::size_t>(1, static_cast<std::size_t>(kSeconds / once) /
                                                                    std::max<std::size_t>(1, per_draw));
  std::vector<Draw> draws;
  for (std::size_t d = 0; d < count; ++d) draws.push_back(draw_of(d));
  const std::size_t evaluations = count << n, runs = evaluations / network.info().rows / kThreads;
  BlockSums sums = zero_sums(std::size_t{1} << n, 1, 0);
  for (const auto& session : sessions) {
    auto* input = static_cast<float*>(session->input(0));
    for (std::size_t k = 0; k < network.info().rows * n; ++k)
      input[k] = static_cast<float>(setting.frame.values[k % setting.frame.values.size()]);
  }
  const auto call_directly = [&] {
    workers.parallel_for(kThreads, [&](std::size_t t) {
      std::vector<double> out(network.info().rows);
      for (std::size_t k = 0; k < runs; ++k) sessions[t]->run(out.size(), out);
    });
  };
  benchmarks::Time ours, theirs;
  const ModelUse before = game.model_use();
  for (int turn = 0; turn < kTurns; ++turn) {
    const benchmarks::Time a = benchmarks::best_of(1, call_directly);
    const benchmarks::Time b = benchmarks::best_of(1, [&] { game.accumulate(draws, sums, workers); });
    theirs = {std::min(theirs.clock, a.clock), std::min(theirs.processor, a.processor)};
    ours = {std::min(ours.clock, b.clock), std::min(ours.processor, b.processor)};
  }
  const ModelUse use = game.model_use();
  const auto all = static_cast<double>(evaluations);
  fmt::print(
      "{}: {}, runs of {} rows: direct {:.4g} rows/s, game {:.4g} evaluations/s: {:.1f} % on the clock, "
      "{:.1f} % "
      "by processor time ({:.0f} and {:.0f} ns per evaluation); {:.0f} % of the evaluations were sent\n",
      path.substr(path.rfind('/') + 1), network.info().library.substr(0, 20), network.info().rows,
      all / theirs.clock, all / ours.clock, 100 * theirs.clock / ours.clock,
      100 * theirs.processor / ours.processor, 1e9 * theirs.processor / all, 1e9 * ours.processor / all,
      100 * static_cast<double>(use.rows - before.rows) /
          static_cast<double>(use.evaluations - before.evaluations));
}

// Answers with the first number of every row.
class InstantNetwork : public Network {
 public:
  explicit InstantNetwork(std::size_t width) {
    info_.inputs = {{.name = "x", .shape = {width}}};
    info_.rows = 256;
  }
  const NetworkInfo& info() const override { return info_; }
  std::unique_ptr<NetworkSession> session() const override { return std::make_unique<Session>(info_); }

 private:
  struct Session : NetworkSession {
    explicit Session(const NetworkInfo& info)
        : width(info.inputs[0].size()), rows(info.rows * info.inputs[0].size()) {}
    void* input(std::size_t) override { return rows.data(); }
    void run(std::size_t count, std::span<double> out) override {
      for (std::size_t r = 0; r < count; ++r) out[r] = static_cast<double>(rows[r * width]);
    }
    std::size_t width;
    std::vector<float> rows;
  };
  NetworkInfo info_;
};

void run_instant(std::size_t n) {
  const InstantNetwork direct(n);
  Setting setting(make_network_model(std::make_unique<InstantNetwork>(n), {.path = "instant"}), n);
  Workers workers(1);
  if (!verify(setting.game, direct, setting.frame, draw_of(0), workers)) {
    fmt::print(stderr, "the losses of the game are not those of the network\n");
    std::exit(1);
  }
  std::vector<Draw> draws;
  for (std::size_t d = 0; d < kRows; ++d) draws.push_back(draw_of(d));
  BlockSums sums = zero_sums(std::size_t{1} << n, 1, 0);
  const benchmarks::Time time =
      benchmarks::best_of(21, [&] { setting.game.accumulate(draws, sums, workers); });
  fmt::print("a network that answers at once, {} columns: {:.1f} ns of processor time per evaluation\n", n,
             1e9 * time.processor / static_cast<double>(kRows << n));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    run_instant(12);
    return 0;
  }
  run(argv[1], std::strtoul(argv[2], nullptr, 10), argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 0);
  return 0;
}
