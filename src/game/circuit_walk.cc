#include "game/circuit_walk.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/gemm.h"
#include "core/interrupt.h"

namespace hifi {

namespace {

constexpr std::uint32_t kNobody = Readout::kNobody;

}  // namespace

CircuitLattice::Walk::Walk(const CircuitLattice& lattice, const PromptGroup& group,
                           const SortedCoalitions& coalitions, Workspace& workspace, const Sink& sink)
    : lattice_(lattice),
      model_(lattice.model_),
      group_(group),
      coalitions_(coalitions),
      work_(workspace),
      sink_(sink),
      switch_place_(model_.config().layers) {
  for (std::uint32_t r = 0; r < group.rows.size(); ++r) {
    all_.rows.push_back(group.rows.row(r).token < 0 ? kNobody : r);
  }
  read_.rows = group.read_rows;
}

const float* CircuitLattice::Walk::replacement(std::size_t layer, std::uint32_t row) const {
  const TokenRows::Row& token = group_.rows.row(row);
  return lattice_.replacements_.at(layer, token.source, token.position);
}

std::optional<std::uint64_t> CircuitLattice::Walk::base_of(std::uint64_t absent,
                                                           std::uint64_t players) const {
  const auto out = static_cast<std::size_t>(std::popcount(absent));
  const auto in = static_cast<std::size_t>(std::popcount(players)) - out;
  if (lattice_.enumerable_) return out > model_.config().heads / 2 ? players : 0;
  if (std::min(out, in) > kFewSwitched) return std::nullopt;
  return out > in ? players : 0;
}

CircuitLattice::Walk::Fan CircuitLattice::Walk::fan_out(std::size_t layer,
                                                        std::span<const Range> states) const {
  Fan fan;
  const std::uint64_t players = lattice_.player_heads_[layer];
  for (std::uint32_t s = 0; s < states.size(); ++s) {
    std::uint64_t switched = 0;
    const std::size_t first = fan.bases.size();
    for (std::size_t begin = states[s].begin; begin < states[s].end;) {
      std::size_t end = begin + 1;
      while (end < states[s].end && !coalitions_.differs_up_to(end, layer)) ++end;
      const std::uint64_t absent = coalitions_.absent(begin, layer);
      std::size_t base = kItself;
      if (const auto from = base_of(absent, players)) {
        base = first;
        while (base < fan.bases.size() && fan.bases[base].absent != *from) ++base;
        if (base == fan.bases.size()) fan.bases.push_back({s, *from});
        switched |= absent ^ *from;
      }
      fan.children.push_back({s, static_cast<std::uint32_t>(base), absent, {begin, end}});
      begin = end;
    }
    fan.switched.push_back(switched);
  }
  return fan;
}

void CircuitLattice::Walk::go(std::size_t layer, std::span<const Range> states, const float* x) {
  check_interrupt();
  const std::size_t stride = group_.rows.size() * model_.config().width;
  const bool last = layer + 1 == model_.config().layers;
  while (!states.empty()) {
    const std::size_t count = states_at_once(layer, states);
    if (last) {
      last_layer(layer, states.first(count), x);
    } else {
      middle_layer(layer, states.first(count), x);
    }
    states = states.subspan(count);
    x += count * stride;
  }
}

// As many as the memory of a workspace was planned for.
std::size_t CircuitLattice::Walk::states_at_once(std::size_t layer, std::span<const Range> states) const {
  const bool last = layer + 1 == model_.config().layers;
  const std::size_t chunk = lattice_.chunk_rows_;
  const auto heads = static_cast<std::size_t>(std::popcount(lattice_.player_heads_[layer]));
  const std::size_t by_rows = (last ? kLastChunks : 1) * chunk / group_.rows.size();
  const std::size_t switched_rows = heads * (last ? read_.rows.size() : group_.rows.size());
  const std::size_t by_switches = heads == 0 ? states.size() : kSwitchedChunks * chunk / switched_rows;
  return std::min(states.size(), std::max<std::size_t>(1, std::min(by_rows, by_switches)));
}

void CircuitLattice::Walk::middle_layer(std::size_t layer, std::span<const Range> states, const float* x) {
  float* z = work_.frames[layer].z.room(states.size() * all_.rows.size() * model_.config().width);
  run_heads(model_, layer, group_.rows, states.size(), x, work_.scratch, z);
  finish_layer(layer, states, all_, x, z, [&](std::span<const Child> children, const float* out) {
    std::vector<Range> next;
    for (const Child& child : children) next.push_back(child.range);
    go(layer + 1, next, out);
  });
}

void CircuitLattice::Walk::last_layer(std::size_t layer, std::span<const Range> states, const float* x) {
  const std::size_t d = model_.config().width;
  const std::size_t reads = read_.rows.size();
  float* read_x = work_.x.room(states.size() * reads * d);
  float* z = work_.frames[layer].z.room(states.size() * reads * d);
  read_heads(layer, states.size(), x, read_x, z);
  std::vector<std::uint32_t> prompts;
  finish_layer(layer, states, read_, read_x, z, [&](std::span<const Child> children, const float* out) {
    prompts.clear();
    for (std::size_t c = 0; c < children.size(); ++c) {
      prompts.insert(prompts.end(), group_.read_prompts.begin(), group_.read_prompts.end());
    }
    work_.losses.resize(prompts.size());
    lattice_.readout_.losses(prompts.size(), out, prompts.data(), work_.readout, work_.losses.data());
    for (std::size_t c = 0; c < children.size(); ++c) {
      for (std::size_t q = 0; q < reads; ++q) {
        if (read_.rows[q] == kNobody) continue;
        for (std::size_t k = children[c].range.begin; k < children[c].range.end; ++k) {
          sink_(coalitions_.index(k), group_.read_draws[q], work_.losses[c * reads + q]);
        }
      }
    }
  });
}

// z at the read rows, and their residual. No keys and values: q . (Wk x) = (Wk q) . x, and the weighted sum
// of Wv x is Wv of the weighted sum.
void CircuitLattice::Walk::read_heads(std::size_t layer, std::size_t states, const float* x, float* read_x,
                                      float* z) {
  const Gpt2Config& config = model_.config();
  const Gpt2Layer& weights = model_.layer(layer);
  const std::size_t d = config.width;
  const std::size_t width = config.head_width();
  const std::size_t rows = group_.rows.size();
  const std::size_t reads = read_.rows.size();
  const std::size_t all = states * reads;
  float* norm = work_.norm.room(states * rows * d);
  layer_norm(states * rows, d, x, weights.norm1.data(), weights.norm1_bias.data(), config.epsilon, norm);
  float* read_norm = work_.mixed.room(all * d);
  for (std::size_t k = 0; k < all; ++k) {
    const std::uint32_t row = read_.rows[k % reads];
    if (row == kNobody) {
      std::fill_n(read_x + k * d, d, 0.0F);
      std::fill_n(read_norm + k * d, d, 0.0F);
      continue;
    }
    const std::size_t from = (k / reads * rows + row) * d;
    std::copy_n(x + from, d, read_x + k * d);
    std::copy_n(norm + from, d, read_norm + k * d);
  }
  float* query = work_.query.room(all * d);
  multiply({.rows = all,
            .columns = d,
            .depth = d,
            .a = read_norm,
            .a_stride = d,
            .b = weights.attention.data(),
            .b_stride = 3 * d,
            .c = query,
            .c_stride = d});
  add_bias(all, d, weights.attention_bias.data(), query);
  float* keyed = work_.keyed.room(all * d);
  float* mixed = read_norm;  // no longer needed
  float* room = work_.scratch.weights.room(group_.rows.longest());
  const float scale = attention_scale(config, layer);
  for (std::size_t h = 0; h < config.heads; ++h) {
    const float* keys = weights.attention.data() + d + h * width;
    multiply({.rows = all,
              .columns = d,
              .depth = width,
              .a = query + h * width,
              .a_stride = d,
              .b = keys,
              .b_stride = 3 * d,
              .b_transposed = true,
              .c = keyed,
              .c_stride = d});
    for (std::size_t k = 0; k < all; ++k) {
      const std::uint32_t row = read_.rows[k % reads];
      const float* state = norm + k / reads * rows * d;
      if (row == kNobody) {
        std::fill_n(mixed + k * d, d, 0.0F);
      } else {
        attend(group_.rows.ancestors(row), d, scale, keyed + k * d, state, state, d, room, mixed + k * d);
      }
    }
    multiply({.rows = all,
              .columns = width,
              .depth = d,
              .a = mixed,
              .a_stride = d,
              .b = weights.attention.data() + 2 * d + h * width,
              .b_stride = 3 * d,
              .c = z + h * width,
              .c_stride = d});
  }
  add_bias(all, d, weights.attention_bias.data() + 2 * d, z);
}

}  // namespace hifi
