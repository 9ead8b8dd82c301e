#include "game/circuit_game.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <numeric>

#include "core/gemm.h"
#include "game/circuit_walk.h"
#include "hifi/error.h"

namespace hifi {

namespace {

// Rows that go through a product together: enough for its speed, few enough for the caches; fewer where
// memory is short.
constexpr std::size_t kRows[] = {504, 252, 120, 60, 36, 24};
// Tasks of a call at least, where there is enough to do. Each repeats what it shares with others: 8 cost 2 %
// of the work of ten heads, 16 would cost 6 %.
constexpr std::size_t kParts = 8;

std::vector<bool> player_layers(const CircuitPlayers& players, std::size_t layers) {
  std::vector<bool> result(layers);
  for (const auto& own : players.heads) {
    for (const Head head : own) result[head.layer] = true;
  }
  return result;
}

}  // namespace

// Workspaces are large: threads that find none wait.
struct CircuitGame::Pool {
  std::mutex mutex;
  std::condition_variable returned;
  std::vector<std::unique_ptr<CircuitLattice::Workspace>> free;
  std::size_t made = 0;
};

class CircuitGame::Lease {
 public:
  explicit Lease(CircuitGame& game) : game_(game) {
    Pool& pool = *game.pool_;
    std::unique_lock lock(pool.mutex);
    pool.returned.wait(lock, [&] { return !pool.free.empty() || pool.made < game.workspaces_; });
    if (pool.free.empty()) {
      ++pool.made;
      own_ = game.lattice_.make_workspace();
    } else {
      own_ = std::move(pool.free.back());
      pool.free.pop_back();
    }
  }
  ~Lease() {
    {
      const std::lock_guard lock(game_.pool_->mutex);
      game_.pool_->free.push_back(std::move(own_));
    }
    game_.pool_->returned.notify_one();
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  CircuitLattice::Workspace& operator*() { return *own_; }

 private:
  CircuitGame& game_;
  std::unique_ptr<CircuitLattice::Workspace> own_;
};

CircuitGame::CircuitGame(const Gpt2& model, PromptTask task, CircuitPlayers players,
                         const CircuitOptions& options, Workers& workers)
    : model_(model),
      task_(std::move(task)),
      players_(std::move(players)),
      options_(options),
      memory_(plan_memory()),
      replacements_(model, task_, options.ablation, player_layers(players_, model.config().layers), workers),
      readout_(model, task_, options.measure, options.freeze_norm, workers),
      lattice_(model, players_, replacements_, readout_, memory_.rows, workers),
      pool_(std::make_unique<Pool>()) {
  use_room(options.max_memory - bytes(), workers.threads());
}

CircuitGame::~CircuitGame() = default;

CircuitGame::Memory CircuitGame::plan_memory() const {
  std::size_t longest = 0;
  for (const Prompt& p : task_.prompts) longest = std::max(longest, p.tokens.size());
  const std::size_t least = whole_tiles(longest + kRowTile);  // a prompt is not cut
  constexpr std::uint64_t kDraws = 128;                       // that are asked for at a time
  Memory memory{.held = Replacements::bytes(model_, task_, options_.ablation,
                                            player_layers(players_, model_.config().layers)) +
                        Readout::bytes(model_, task_, options_.measure) +
                        CircuitLattice::bytes(model_, players_) +
                        kDraws * longest * model_.config().width * sizeof(float)};
  // The other half is for the vocabulary.
  for (const std::size_t rows : kRows) {
    memory.rows = rows;
    memory.workspace = CircuitLattice::workspace_bytes(model_, players_, std::max(rows, least), rows);
    if (memory.held + memory.workspace <= options_.max_memory / 2) return memory;
  }
  throw input_error(
      fmt::format(
          "the circuit needs {:.3g} MB of memory beside the weights, half of --max-memory is {:.3g} MB",
          static_cast<double>(memory.held + memory.workspace) / 1e6,
          static_cast<double>(options_.max_memory) / 2e6),
      "raise --max-memory, or take fewer heads, shorter prompts or fewer reference prompts");
}

std::uint64_t CircuitGame::use_room(std::uint64_t room, std::size_t threads) {
  const std::lock_guard lock(pool_->mutex);
  pool_->free.clear();
  pool_->made = 0;
  const std::uint64_t more = std::min<std::uint64_t>(threads - 1, room / memory_.workspace);
  workspaces_ = 1 + more;
  return more * memory_.workspace;
}

std::uint64_t CircuitGame::lattice_bytes() const {
  constexpr std::uint64_t kOrder = 2 * sizeof(std::uint64_t) + 2 * sizeof(std::uint32_t);  // of a coalition
  const std::uint64_t lattice = std::uint64_t{1} << std::min<std::size_t>(40, players_.size());
  return lattice * (kOrder + sizeof(double) * lookahead());
}

double CircuitGame::lattice_share() const {
  if (options_.plainly || players_.size() > kEnumerable) return 1;
  std::vector<std::size_t> first(model_.config().layers);  // players by their first layer
  for (const auto& own : players_.heads) ++first[std::min_element(own.begin(), own.end())->layer];
  const auto layers = static_cast<double>(first.size());
  const auto all = static_cast<int>(players_.size());
  double work = 0;
  int seen = 0;
  for (std::size_t l = 0; l + 1 < first.size(); ++l) {  // the last layer is read at one position: nearly free
    // Attention and the first product of the MLP per state, the second per child.
    work += 2.0 / 3 * std::ldexp(1, seen - all);
    seen += static_cast<int>(first[l]);
    work += 1.0 / 3 * std::ldexp(1, seen - all);
  }
  return std::min(1.0, (work + .1) / layers);
}

// Draws that begin alike lie together, so that they share rows.
std::vector<PromptGroup> CircuitGame::make_groups(std::span<const Draw> draws) const {
  std::vector<GroupDraw> sorted;
  for (std::uint32_t d = 0; d < draws.size(); ++d)
    sorted.push_back({draws[d].instance, draws[d].background, d});
  const auto tokens = [&](const GroupDraw& d) -> const std::vector<Token>& {
    return task_.prompts[d.prompt].tokens;
  };
  std::sort(sorted.begin(), sorted.end(), [&](const GroupDraw& a, const GroupDraw& b) {
    if (a.source != b.source) return a.source < b.source;
    return tokens(a) != tokens(b) ? tokens(a) < tokens(b) : a.draw < b.draw;
  });
  std::vector<PromptGroup> groups;
  std::size_t first = 0;
  std::size_t rows = 0;
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    std::size_t shared = 0;
    if (options_.share_prompts && k > first && sorted[k].source == sorted[k - 1].source) {
      const auto& a = tokens(sorted[k - 1]);
      const auto& b = tokens(sorted[k]);
      shared =
          static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
    }
    const std::size_t more = tokens(sorted[k]).size() - shared;
    if (k > first && rows + more > memory_.rows - kRowTile) {
      groups.push_back(
          make_group(task_, std::span(sorted).subspan(first, k - first), options_.share_prompts));
      first = k;
      rows = tokens(sorted[k]).size();
    } else {
      rows += more;
    }
  }
  groups.push_back(make_group(task_, std::span(sorted).subspan(first), options_.share_prompts));
  return groups;
}

void CircuitGame::losses(const CoalitionList& coalitions, std::span<const Draw> draws, std::span<double> out,
                         Workers& workers) {
  if (draws.empty() || coalitions.size() == 0) return;
  const SortedCoalitions sorted(players_, model_.config().layers, coalitions);
  std::vector<PromptGroup> groups = make_groups(draws);
  if (!options_.plainly) {
    workers.parallel_for(groups.size(), [&](std::size_t g) {
      Lease lease(*this);
      lattice_.run_root(groups[g], *lease);
    });
  }
  // A part repeats the layers that it shares with others: few coalitions and short rows make few parts.
  const std::size_t count = coalitions.size();
  const std::size_t wanted = (kParts + groups.size() - 1) / groups.size();
  const std::size_t parts =
      options_.plainly ? count
                       : std::clamp<std::size_t>(count * groups.front().rows.size() / 8192, 1, wanted);
  const CircuitLattice::Sink sink = [&](std::uint32_t coalition, std::uint32_t draw, double loss) {
    out[draw * count + coalition] = loss;
  };
  workers.parallel_for(groups.size() * parts, [&](std::size_t task) {
    const PromptGroup& group = groups[task / parts];
    const std::size_t part = task % parts;
    Lease lease(*this);
    const std::size_t begin = count * part / parts;
    const std::size_t end = count * (part + 1) / parts;
    if (options_.plainly) {
      lattice_.run_plainly(group, sorted, begin, end, *lease, sink);
    } else {
      lattice_.run(group, sorted, begin, end, *lease, sink);
    }
  });
}

std::uint64_t CircuitGame::unit_draws() const {
  return std::max<std::uint64_t>(1, kUnitEvaluations >> std::min<std::size_t>(40, players_.size()));
}

// A minute or two of a machine with few cores; sets of a larger unit share more.
std::uint64_t CircuitGame::unit_evaluations() const {
  constexpr double kProducts = 1e13;
  const Gpt2Config& config = model_.config();
  const auto width = static_cast<double>(config.width);
  const double row =
      static_cast<double>(config.layers) * width * (4 * width + 2 * static_cast<double>(config.inner));
  const double evaluation = row * static_cast<double>(task_.prompts.front().tokens.size());
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(kProducts / evaluation), 1, kUnitEvaluations);
}

std::size_t CircuitGame::lookahead() const {
  constexpr std::size_t kDraws = 64;
  const std::uint64_t bytes = std::min(std::uint64_t{128} << 20, options_.max_memory / 16);
  return std::clamp<std::size_t>(bytes >> (3 + std::min<std::size_t>(40, players_.size())), 1, kDraws);
}

void CircuitGame::accumulate(std::span<const Draw> draws, BlockSums& sums, Workers& workers) {
  const std::size_t lattice = std::size_t{1} << players();
  const auto key = [](const Draw& d) { return std::pair(d.instance, d.background); };
  for (const Draw& draw : draws) {
    if (!ahead_.contains(key(draw))) {
      std::vector<Draw> missing{draw};
      const auto add = [&](const Draw& other) {
        const bool known =
            ahead_.contains(key(other)) ||
            std::any_of(missing.begin(), missing.end(), [&](const Draw& m) { return key(m) == key(other); });
        if (!known && missing.size() < lookahead()) missing.push_back(other);
      };
      for (const Draw& other : draws) add(other);
      for (const Draw& other : expected_) add(other);
      // One array: single lattices would be a copy.
      auto losses = std::make_shared<std::vector<double>>(lattice * missing.size());
      this->losses(CoalitionList::lattice(players(), 0, lattice), missing, *losses, workers);
      for (std::size_t k = 0; k < missing.size(); ++k) ahead_[key(missing[k])] = {losses, k * lattice};
    }
    const auto& [losses, first] = ahead_.at(key(draw));
    add_losses({&draw, 1}, std::span(*losses).subspan(first, lattice), 0, lattice, sums, workers);
    ahead_.erase(key(draw));
  }
}

}  // namespace hifi
