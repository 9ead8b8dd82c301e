#include "game/circuit_lattice.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/gemm.h"
#include "core/interrupt.h"
#include "game/circuit_walk.h"
#include "model/gpt2_kernels.h"

namespace hifi {

namespace {

std::size_t root_layer(const Gpt2& model, const CircuitPlayers& players) {
  const std::size_t layers = model.config().layers;
  return std::min(layers - 1, SortedCoalitions::first_layer(players, layers));
}

std::vector<std::uint64_t> heads_by_layer(const CircuitPlayers& players, std::size_t layers) {
  std::vector<std::uint64_t> result(layers);
  for (const auto& own : players.heads) {
    for (const Head head : own) result[head.layer] |= std::uint64_t{1} << head.head;
  }
  return result;
}

bool is_enumerable(const CircuitPlayers& players) { return players.size() <= kEnumerable; }

}  // namespace

PromptGroup make_group(const PromptTask& task, std::span<const GroupDraw> draws, bool share) {
  std::vector<TokenRows::Prompt> prompts;
  for (const GroupDraw& d : draws) prompts.push_back({task.prompts[d.prompt].tokens, d.source});
  PromptGroup group{.rows = TokenRows(prompts, share)};
  // The half of a tile is the prompt's own: company does not change it.
  std::array<std::size_t, 2> count{};
  for (const GroupDraw& d : draws) ++count[d.prompt % 2];
  const std::size_t tiles = (std::max(count[0], count[1]) + kHalfTile - 1) / kHalfTile;
  group.read_rows.assign(tiles * kRowTile, Readout::kNobody);
  group.read_prompts = group.read_draws = group.read_rows;
  count = {};
  for (std::size_t k = 0; k < draws.size(); ++k) {
    const std::size_t half = draws[k].prompt % 2;
    const std::size_t index = count[half]++;
    const std::size_t slot = index / kHalfTile * kRowTile + half * kHalfTile + index % kHalfTile;
    group.read_rows[slot] = group.rows.last(k);
    group.read_prompts[slot] = draws[k].prompt;
    group.read_draws[slot] = draws[k].draw;
  }
  return group;
}

CircuitLattice::CircuitLattice(const Gpt2& model, const CircuitPlayers& players,
                               const Replacements& replacements, const Readout& readout,
                               std::size_t chunk_rows, Workers& workers)
    : model_(model),
      replacements_(replacements),
      readout_(readout),
      chunk_rows_(chunk_rows),
      root_layer_(root_layer(model, players)),
      enumerable_(is_enumerable(players)),
      player_heads_(heads_by_layer(players, model.config().layers)),
      inner_bias_(model.config().layers),
      switch_weights_(model.config().layers * model.config().heads) {
  const Gpt2Config& config = model.config();
  const std::size_t d = config.width;
  const std::size_t width = config.head_width();
  std::vector<Head> heads;
  for (const auto& own : players.heads) heads.insert(heads.end(), own.begin(), own.end());
  workers.parallel_for(config.layers, [&](std::size_t l) {
    const Gpt2Layer& layer = model.layer(l);
    std::vector<double> bias(layer.inner_bias.span().begin(), layer.inner_bias.span().end());
    for (std::size_t k = 0; k < d; ++k) {
      const auto shift = static_cast<double>(layer.norm2_bias[k]);
      const float* row = layer.inner.data() + k * config.inner;
      for (std::size_t j = 0; shift != 0 && j < config.inner; ++j)
        bias[j] += shift * static_cast<double>(row[j]);
    }
    inner_bias_[l].assign(bias.begin(), bias.end());
  });
  // Wo of a head, centred as LayerNorm will centre it, times LayerNorm's gain and the MLP's first matrix.
  workers.parallel_for(heads.size(), [&](std::size_t k) {
    const Gpt2Layer& layer = model.layer(heads[k].layer);
    Buffer output;
    float* rows = output.room(whole_tiles(width) * d);
    float unused = 0;
    for (std::size_t r = 0; r < width; ++r) {
      centre(1, d, layer.output.data() + (heads[k].head * width + r) * d, 1.0F, rows + r * d, &unused);
      for (std::size_t j = 0; j < d; ++j) rows[r * d + j] *= layer.norm2[j];
    }
    auto& product = switch_weights_[heads[k].layer * config.heads + heads[k].head];
    product.resize(whole_tiles(width) * config.inner);
    multiply({.rows = width,
              .columns = config.inner,
              .depth = d,
              .a = rows,
              .a_stride = d,
              .b = layer.inner.data(),
              .b_stride = config.inner,
              .c = product.data(),
              .c_stride = config.inner});
  });
}

CircuitLattice::~CircuitLattice() = default;

const float* CircuitLattice::switch_weights(std::size_t layer, std::size_t head) const {
  return switch_weights_[layer * model_.config().heads + head].data();
}

std::unique_ptr<CircuitLattice::Workspace> CircuitLattice::make_workspace() const {
  return std::make_unique<Workspace>(model_.config().layers);
}

std::uint64_t CircuitLattice::bytes(const Gpt2& model, const CircuitPlayers& players) {
  const Gpt2Config& config = model.config();
  std::uint64_t heads = 0;
  for (const auto& own : players.heads) heads += own.size();
  return sizeof(float) * config.inner * (heads * whole_tiles(config.head_width()) + config.layers);
}

std::uint64_t CircuitLattice::workspace_bytes(const Gpt2& model, const CircuitPlayers& players,
                                              std::size_t group_rows, std::size_t chunk_rows) {
  const Gpt2Config& config = model.config();
  const std::size_t d = config.width;
  const std::size_t rows = std::max(chunk_rows, group_rows);
  const std::vector<std::uint64_t> player_heads = heads_by_layer(players, config.layers);
  // Norm, queries, keys and values, z of a chunk; what goes into the last layer together, and what is read of
  // it.
  const std::size_t many = std::max(kLastChunks * chunk_rows, group_rows);
  std::uint64_t floats = rows * 8 * d + many * 2 * (2 * d + config.inner) + 5 * (many + group_rows) * d;
  for (std::size_t l = root_layer(model, players); l < config.layers; ++l) {
    const auto heads = static_cast<std::size_t>(std::popcount(player_heads[l]));
    const std::size_t switched =
        std::min(heads * rows, std::max(kSwitchedChunks * chunk_rows, heads * group_rows));
    const std::size_t bases = !is_enumerable(players) || 2 * heads > config.heads ? 2 : 1;  // of a state
    floats += rows * (2 * d + bases * (d + config.inner)) + switched * (d + config.inner);
  }
  floats += 2 * kRowTile * config.vocabulary;
  return sizeof(float) * floats;
}

void CircuitLattice::run_root(PromptGroup& group, Workspace& workspace) const {
  const std::size_t size = group.rows.size() * model_.config().width;
  group.root.resize(size);
  embed(model_, group.rows, group.root.data());
  for (std::size_t l = 0; l < root_layer_; ++l) {
    check_interrupt();
    float* z = workspace.z.room(size);
    run_heads(model_, l, group.rows, 1, group.root.data(), workspace.scratch, z);
    add_heads(model_, l, group.rows.size(), z, group.root.data());
    add_mlp(model_, l, group.rows.size(), workspace.scratch, group.root.data());
  }
}

void CircuitLattice::run(const PromptGroup& group, const SortedCoalitions& coalitions, std::size_t begin,
                         std::size_t end, Workspace& workspace, const Sink& sink) const {
  if (begin == end) return;
  Walk walk(*this, group, coalitions, workspace, sink);
  const Walk::Range all{begin, end};
  walk.go(root_layer_, {&all, 1}, group.root.data());
}

void CircuitLattice::run_plainly(const PromptGroup& group, const SortedCoalitions& coalitions,
                                 std::size_t begin, std::size_t end, Workspace& workspace,
                                 const Sink& sink) const {
  const Gpt2Config& config = model_.config();
  const std::size_t d = config.width;
  const std::size_t width = config.head_width();
  const std::size_t reads = group.read_rows.size();
  for (std::size_t k = begin; k < end; ++k) {
    check_interrupt();
    forward(model_, group.rows, workspace.scratch, workspace.x, [&](std::size_t layer, float* z) {
      const std::uint64_t absent = coalitions.absent(k, layer);
      for (std::size_t r = 0; absent != 0 && r < group.rows.size(); ++r) {
        const TokenRows::Row& row = group.rows.row(r);
        if (row.token < 0) continue;
        const float* instead = replacements_.at(layer, row.source, row.position);
        for (std::size_t h = 0; h < config.heads; ++h) {
          if ((absent >> h) & 1U) std::copy_n(instead + h * width, width, z + r * d + h * width);
        }
      }
    });
    float* read = workspace.norm.room(reads * d);
    for (std::size_t q = 0; q < reads; ++q) {
      if (group.read_rows[q] != Readout::kNobody)
        std::copy_n(workspace.x.data() + group.read_rows[q] * d, d, read + q * d);
    }
    workspace.losses.resize(reads);
    readout_.losses(reads, read, group.read_prompts.data(), workspace.readout, workspace.losses.data());
    for (std::size_t q = 0; q < reads; ++q) {
      if (group.read_rows[q] != Readout::kNobody)
        sink(coalitions.index(k), group.read_draws[q], workspace.losses[q]);
    }
  }
}

}  // namespace hifi
