#include "game/circuit_walk.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/gemm.h"
#include "core/interrupt.h"

namespace hifi {

namespace {

constexpr std::uint32_t kNobody = Readout::kNobody;

bool has(std::uint64_t heads, std::size_t head) { return (heads >> head) & 1U; }

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

CircuitLattice::Walk::Fan CircuitLattice::Walk::fan_out(std::size_t layer,
                                                        std::span<const Range> states) const {
  Fan fan;
  const std::uint64_t players = lattice_.player_heads_[layer];
  const auto most = static_cast<int>(model_.config().heads / 2);
  for (std::uint32_t s = 0; s < states.size(); ++s) {
    std::uint64_t switched = 0;
    const std::size_t first = fan.bases.size();
    for (std::size_t begin = states[s].begin; begin < states[s].end;) {
      std::size_t end = begin + 1;
      while (end < states[s].end && !coalitions_.differs_up_to(end, layer)) ++end;
      const std::uint64_t absent = coalitions_.absent(begin, layer);
      const std::uint64_t from = std::popcount(absent) > most ? players : 0;
      std::size_t base = first;
      while (base < fan.bases.size() && fan.bases[base].absent != from) ++base;
      if (base == fan.bases.size()) fan.bases.push_back({s, from});
      switched |= absent ^ from;
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
  float* z = work_.z.room(states.size() * all_.rows.size() * model_.config().width);
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
  float* z = work_.z.room(states.size() * reads * d);
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

// z of the bases. Where every state has one base that leaves nothing out, that is z itself.
float* CircuitLattice::Walk::base_heads(std::size_t layer, const Fan& fan, std::size_t states,
                                        const Block& block, float* z) {
  const Gpt2Config& config = model_.config();
  const std::size_t rows = block.rows.size();
  const std::size_t size = rows * config.width;
  const auto intact = [](const Base& base) { return base.absent == 0; };
  if (fan.bases.size() == states && std::all_of(fan.bases.begin(), fan.bases.end(), intact)) return z;
  float* heads = work_.base.room(fan.bases.size() * size);
  for (std::size_t b = 0; b < fan.bases.size(); ++b) {
    std::copy_n(z + fan.bases[b].state * size, size, heads + b * size);
    for (std::size_t r = 0; r < rows && fan.bases[b].absent != 0; ++r) {
      if (block.rows[r] == kNobody) continue;
      const float* instead = replacement(layer, block.rows[r]);
      float* own = heads + b * size + r * config.width;
      for (std::size_t h = 0; h < config.heads; ++h) {
        if (!has(fan.bases[b].absent, h)) continue;
        std::copy_n(instead + h * config.head_width(), config.head_width(), own + h * config.head_width());
      }
    }
  }
  return heads;
}

// From z to the residual after the layer, for every child; `next` gets them a chunk at a time.
void CircuitLattice::Walk::finish_layer(std::size_t layer, std::span<const Range> states, const Block& block,
                                        const float* x, float* z, const Next& next) {
  const Gpt2Config& config = model_.config();
  const std::size_t d = config.width;
  const std::size_t rows = block.rows.size();
  const Fan fan = fan_out(layer, states);
  const std::size_t all = fan.bases.size() * rows;
  LayerFrame& frame = work_.frames[layer];
  switch_heads(layer, fan, block, z);
  float* residual = frame.residual.room(all * d);
  for (std::size_t b = 0; b < fan.bases.size(); ++b) {
    std::copy_n(x + fan.bases[b].state * rows * d, rows * d, residual + b * rows * d);
  }
  add_heads(model_, layer, all, base_heads(layer, fan, states.size(), block, z), residual);

  float* gained = work_.norm.room(all * d);
  const float* gain = model_.layer(layer).norm2.data();
  for (std::size_t k = 0; k < all; ++k) {
    float unused = 0;
    centre(1, d, residual + k * d, config.epsilon, gained + k * d, &unused);
    for (std::size_t j = 0; j < d; ++j) gained[k * d + j] *= gain[j];
  }
  float* inner = frame.inner.room(all * config.inner);
  multiply({.rows = all,
            .columns = config.inner,
            .depth = d,
            .a = gained,
            .a_stride = d,
            .b = model_.layer(layer).inner.data(),
            .b_stride = config.inner,
            .c = inner,
            .c_stride = config.inner});

  const std::size_t chunks = layer + 2 == config.layers ? kLastChunks : 1;
  const std::size_t at_once = std::max<std::size_t>(1, chunks * lattice_.chunk_rows_ / rows);
  std::span<const Child> rest = fan.children;
  while (!rest.empty()) {
    const auto chunk = rest.first(std::min(at_once, rest.size()));
    make_children(layer, fan, chunk, block);
    next(chunk, frame.out.data());
    rest = rest.subspan(chunk.size());
  }
}

// (r - z) of every head that switches, projected to the residual and into the MLP.
void CircuitLattice::Walk::switch_heads(std::size_t layer, const Fan& fan, const Block& block,
                                        const float* z) {
  const Gpt2Config& config = model_.config();
  const std::size_t d = config.width;
  const std::size_t width = config.head_width();
  const std::size_t rows = block.rows.size();
  LayerFrame& frame = work_.frames[layer];
  std::vector<std::uint32_t>& place = switch_place_[layer];
  place.assign(fan.switched.size() * config.heads, 0);
  std::size_t blocks = 0;
  for (const std::uint64_t heads : fan.switched) blocks += static_cast<std::size_t>(std::popcount(heads));
  if (blocks == 0) return;
  float* residual = frame.switched_residual.room(blocks * rows * d);
  float* inner = frame.switched_inner.room(blocks * rows * config.inner);
  std::size_t used = 0;
  for (std::size_t h = 0; h < config.heads; ++h) {
    const std::size_t first = used;
    for (std::size_t s = 0; s < fan.switched.size(); ++s) {
      if (has(fan.switched[s], h)) place[s * config.heads + h] = static_cast<std::uint32_t>(used++);
    }
    if (used == first) continue;
    const std::size_t count = (used - first) * rows;
    float* change = work_.change.room(count * width);
    float* to = change;
    for (std::size_t s = 0; s < fan.switched.size(); ++s) {
      if (!has(fan.switched[s], h)) continue;
      for (std::size_t r = 0; r < rows; ++r, to += width) {
        if (block.rows[r] == kNobody) {
          std::fill_n(to, width, 0.0F);
          continue;
        }
        const float* instead = replacement(layer, block.rows[r]) + h * width;
        const float* own = z + (s * rows + r) * d + h * width;
        for (std::size_t j = 0; j < width; ++j) to[j] = instead[j] - own[j];
      }
    }
    multiply({.rows = count,
              .columns = d,
              .depth = width,
              .a = change,
              .a_stride = width,
              .b = model_.layer(layer).output.data() + h * width * d,
              .b_stride = d,
              .c = residual + first * rows * d,
              .c_stride = d});
    multiply({.rows = count,
              .columns = config.inner,
              .depth = width,
              .a = change,
              .a_stride = width,
              .b = lattice_.switch_weights(layer, h),
              .b_stride = config.inner,
              .c = inner + first * rows * config.inner,
              .c_stride = config.inner});
  }
}

void CircuitLattice::Walk::make_children(std::size_t layer, const Fan& fan, std::span<const Child> children,
                                         const Block& block) {
  const Gpt2Config& config = model_.config();
  const std::size_t d = config.width;
  const std::size_t rows = block.rows.size();
  LayerFrame& frame = work_.frames[layer];
  float* out = frame.out.room(children.size() * rows * d);
  float* inner = work_.inner.room(children.size() * rows * config.inner);
  float* centred = work_.norm.room(d);
  std::vector<SignedRow> residual_parts;
  std::vector<SignedRow> inner_parts;
  for (std::size_t c = 0; c < children.size(); ++c) {
    const Child& child = children[c];
    const std::uint64_t changed = child.absent ^ fan.bases[child.base].absent;
    const std::uint32_t* place = switch_place_[layer].data() + child.state * config.heads;
    for (std::size_t r = 0; r < rows; ++r) {
      residual_parts.clear();
      inner_parts.clear();
      for (std::uint64_t heads = changed; heads != 0; heads &= heads - 1) {
        const auto h = static_cast<std::size_t>(std::countr_zero(heads));
        const float sign = has(child.absent, h) ? 1.0F : -1.0F;
        const std::size_t row = place[h] * rows + r;
        residual_parts.push_back({frame.switched_residual.data() + row * d, sign});
        inner_parts.push_back({frame.switched_inner.data() + row * config.inner, sign});
      }
      float* own = out + (c * rows + r) * d;
      switched_sum(d, frame.residual.data() + (child.base * rows + r) * d, residual_parts, own);
      float scale = 0;
      centre(1, d, own, config.epsilon, centred, &scale);
      switched_activation(config.activation, config.inner,
                          frame.inner.data() + (child.base * rows + r) * config.inner, inner_parts, scale,
                          lattice_.inner_bias_[layer].data(), inner + (c * rows + r) * config.inner);
    }
  }
  const Gpt2Layer& weights = model_.layer(layer);
  const std::size_t all = children.size() * rows;
  add_bias(all, d, weights.outer_bias.data(), out);
  multiply({.rows = all,
            .columns = d,
            .depth = config.inner,
            .a = inner,
            .a_stride = config.inner,
            .b = weights.outer.data(),
            .b_stride = d,
            .c = out,
            .c_stride = d,
            .add = true});
}

}  // namespace hifi
