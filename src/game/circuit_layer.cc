#include <algorithm>
#include <bit>

#include "core/gemm.h"
#include "game/circuit_walk.h"

namespace hifi {

namespace {

constexpr std::uint32_t kNobody = Readout::kNobody;

bool has(std::uint64_t heads, std::size_t head) { return (heads >> head) & 1U; }

}  // namespace

// z of the bases. Where every state has one base that leaves nothing out, that is z itself.
const float* CircuitLattice::Walk::base_heads(std::size_t layer, std::span<const Base> bases,
                                              const Block& block, const float* z) {
  const Gpt2Config& config = model_.config();
  const std::size_t rows = block.rows.size();
  const std::size_t size = rows * config.width;
  bool intact = true;
  for (std::size_t b = 0; b < bases.size(); ++b) intact &= bases[b].state == b && bases[b].absent == 0;
  if (intact) return z;
  float* heads = work_.base.room(bases.size() * size);
  for (std::size_t b = 0; b < bases.size(); ++b) {
    std::copy_n(z + bases[b].state * size, size, heads + b * size);
    for (std::size_t r = 0; r < rows && bases[b].absent != 0; ++r) {
      if (block.rows[r] == kNobody) continue;
      const float* instead = replacement(layer, block.rows[r]);
      float* own = heads + b * size + r * config.width;
      for (std::size_t h = 0; h < config.heads; ++h) {
        if (!has(bases[b].absent, h)) continue;
        std::copy_n(instead + h * config.head_width(), config.head_width(), own + h * config.head_width());
      }
    }
  }
  return heads;
}

// The residual after attention, and the MLP's first product of it before scale and bias.
void CircuitLattice::Walk::run_bases(std::size_t layer, std::span<const Base> bases, const Block& block,
                                     const float* x, const float* z, BaseRows& out) {
  const Gpt2Config& config = model_.config();
  const std::size_t d = config.width;
  const std::size_t rows = block.rows.size();
  const std::size_t all = bases.size() * rows;
  if (all == 0) return;
  float* residual = out.residual.room(all * d);
  for (std::size_t b = 0; b < bases.size(); ++b) {
    std::copy_n(x + bases[b].state * rows * d, rows * d, residual + b * rows * d);
  }
  add_heads(model_, layer, all, base_heads(layer, bases, block, z), residual);
  float* gained = work_.norm.room(all * d);
  const float* gain = model_.layer(layer).norm2.data();
  for (std::size_t k = 0; k < all; ++k) {
    float unused = 0;
    centre(1, d, residual + k * d, config.epsilon, gained + k * d, &unused);
    for (std::size_t j = 0; j < d; ++j) gained[k * d + j] *= gain[j];
  }
  multiply({.rows = all,
            .columns = config.inner,
            .depth = d,
            .a = gained,
            .a_stride = d,
            .b = model_.layer(layer).inner.data(),
            .b_stride = config.inner,
            .c = out.inner.room(all * config.inner),
            .c_stride = config.inner});
}

// From z to the residual after the layer, for every child; `next` gets them a chunk at a time.
void CircuitLattice::Walk::finish_layer(std::size_t layer, std::span<const Range> states, const Block& block,
                                        const float* x, const float* z, const Next& next) {
  const Fan fan = fan_out(layer, states);
  LayerFrame& frame = work_.frames[layer];
  switch_heads(layer, fan, block, z);
  run_bases(layer, fan.bases, block, x, z, frame.bases);
  const std::size_t chunks = layer + 2 == model_.config().layers ? kLastChunks : 1;
  const std::size_t at_once = std::max<std::size_t>(1, chunks * lattice_.chunk_rows_ / block.rows.size());
  std::span<const Child> rest = fan.children;
  while (!rest.empty()) {
    const auto chunk = rest.first(std::min(at_once, rest.size()));
    std::vector<Base> own;
    for (const Child& child : chunk) {
      if (child.base == kItself) own.push_back({child.state, child.absent});
    }
    run_bases(layer, own, block, x, z, work_.own);
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
  std::size_t own_bases = 0;
  for (std::size_t c = 0; c < children.size(); ++c) {
    const Child& child = children[c];
    const bool itself = child.base == kItself;
    BaseRows& from = itself ? work_.own : frame.bases;
    const std::size_t base = itself ? own_bases++ : child.base;
    const std::uint64_t changed = itself ? 0 : child.absent ^ fan.bases[child.base].absent;
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
      switched_sum(d, from.residual.data() + (base * rows + r) * d, residual_parts, own);
      float scale = 0;
      centre(1, d, own, config.epsilon, centred, &scale);
      switched_activation(config.activation, config.inner,
                          from.inner.data() + (base * rows + r) * config.inner, inner_parts, scale,
                          lattice_.inner_bias_[layer].data(), inner + (c * rows + r) * config.inner);
    }
  }
  add_outer(model_, layer, children.size() * rows, inner, out);
}

}  // namespace hifi
