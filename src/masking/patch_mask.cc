#include "masking/patch_mask.h"

#include <algorithm>
#include <cmath>

#include "data/resample.h"

namespace hifi {

namespace {

struct Window {
  std::size_t top, left, bottom, right;
};

// Around the pixels of a player, as far as the softening reaches.
Window window_of(const Patches& patches, std::uint32_t player, std::size_t reach) {
  Window window{patches.height, patches.width, 0, 0};
  for (std::size_t y = 0; y < patches.height; ++y) {
    for (std::size_t x = 0; x < patches.width; ++x) {
      if (patches.owner[y * patches.width + x] != player) continue;
      window.top = std::min(window.top, y);
      window.left = std::min(window.left, x);
      window.bottom = std::max(window.bottom, y + 1);
      window.right = std::max(window.right, x + 1);
    }
  }
  if (window.bottom == 0) return {0, 0, 0, 0};
  return {window.top - std::min(window.top, reach), window.left - std::min(window.left, reach),
          std::min(patches.height, window.bottom + reach), std::min(patches.width, window.right + reach)};
}

}  // namespace

PatchMask::PatchMask(const Patches& patches, double feather) : always_(patches.owner.size()) {
  begin_.push_back(0);
  for (std::uint32_t player = 0; player < patches.players(); ++player) {
    add_patch(patches, player, feather);
    begin_.push_back(stretches_.size());
  }
  make_whole(patches);
}

void PatchMask::add_patch(const Patches& patches, std::uint32_t player, double feather) {
  const auto reach = static_cast<std::size_t>(4 * feather + .5);
  const Window window = window_of(patches, player, reach);
  Planes soft{1, window.bottom - window.top, window.right - window.left, {}};
  for (std::size_t y = window.top; y < window.bottom; ++y) {
    for (std::size_t x = window.left; x < window.right; ++x)
      soft.values.push_back(patches.owner[y * patches.width + x] == player ? 1.0F : 0.0F);
  }
  if (reach > 0 && !soft.values.empty()) blur(soft, feather);
  for (std::size_t y = 0; y < soft.height; ++y) {
    const float* row = soft.values.data() + y * soft.width;
    const auto share = [&](std::size_t x) { return static_cast<std::int16_t>(std::lround(row[x] * kWhole)); };
    std::size_t first = 0;
    std::size_t last = soft.width;
    while (first < last && share(first) == 0) ++first;
    while (last > first && share(last - 1) == 0) --last;
    if (first == last) continue;
    const std::size_t pixel = (window.top + y) * patches.width + window.left + first;
    stretches_.push_back(
        {static_cast<std::uint32_t>(pixel), static_cast<std::uint32_t>(last - first), shares_.size()});
    for (std::size_t x = first; x < last; ++x) shares_.push_back(share(x));
  }
}

// Rounding left a few parts too many or too few at a pixel: its owner takes them. Pixels of no player keep
// what their neighbours do not claim.
void PatchMask::make_whole(const Patches& patches) {
  std::vector<int> sum(patches.owner.size());
  for (const Stretch& s : stretches_) {
    for (std::size_t k = 0; k < s.length; ++k) sum[s.pixel + k] += shares_[s.shares + k];
  }
  for (std::size_t player = 0; player < players(); ++player) {
    for (std::size_t at = begin_[player]; at < begin_[player + 1]; ++at) {
      const Stretch& s = stretches_[at];
      for (std::size_t k = 0; k < s.length; ++k) {
        if (patches.owner[s.pixel + k] != player) continue;
        const bool bordered = kWhole - sum[s.pixel + k] > 16;  // pixels of no player are near
        if (bordered) continue;
        shares_[s.shares + k] = static_cast<std::int16_t>(shares_[s.shares + k] + kWhole - sum[s.pixel + k]);
        sum[s.pixel + k] = kWhole;
      }
    }
  }
  for (std::size_t p = 0; p < sum.size(); ++p) always_[p] = static_cast<std::int16_t>(kWhole - sum[p]);
}

std::uint64_t PatchMask::bytes() const {
  return stretches_.size() * sizeof(Stretch) + (shares_.size() + always_.size()) * sizeof(std::int16_t);
}

void PatchMask::shares(const Coalition& coalition, std::span<std::int16_t> out) const {
  // From the nearer end: whole numbers come out the same.
  const bool remove = 2 * coalition.count() > players();
  if (remove) {
    std::fill(out.begin(), out.end(), kWhole);
  } else {
    std::copy(always_.begin(), always_.end(), out.begin());
  }
  for (std::size_t player = 0; player < players(); ++player) {
    if (coalition.contains(player) == remove) continue;
    for (std::size_t at = begin_[player]; at < begin_[player + 1]; ++at) {
      const Stretch& s = stretches_[at];
      std::int16_t* to = out.data() + s.pixel;
      const std::int16_t* from = shares_.data() + s.shares;
      if (remove) {
        for (std::size_t k = 0; k < s.length; ++k) to[k] = static_cast<std::int16_t>(to[k] - from[k]);
      } else {
        for (std::size_t k = 0; k < s.length; ++k) to[k] = static_cast<std::int16_t>(to[k] + from[k]);
      }
    }
  }
}

namespace {

float mixed(std::int16_t share, float image, float fill) {
  constexpr float kPart = 1.0F / PatchMask::kWhole;
  const float shown = static_cast<float>(share) * kPart;
  const float between = shown * image + (1 - shown) * fill;
  return share == PatchMask::kWhole ? image : share == 0 ? fill : between;
}

}  // namespace

void mix(std::span<const std::int16_t> shares, std::span<const float> image, std::span<const float> fill,
         bool channels_first, float* out) {
  const std::size_t pixels = shares.size();
  const std::size_t channels = image.size() / pixels;
  const std::int16_t* share = shares.data();
  if (channels_first || channels == 1) {
    for (std::size_t c = 0; c < channels; ++c) {
      const float* from = image.data() + c * pixels;
      const float* other = fill.data() + c * pixels;
      float* to = out + c * pixels;
      for (std::size_t p = 0; p < pixels; ++p) to[p] = mixed(share[p], from[p], other[p]);
    }
    return;
  }
  for (std::size_t p = 0; p < pixels; ++p) {
    for (std::size_t c = 0; c < channels; ++c) {
      const std::size_t at = p * channels + c;
      out[at] = mixed(share[p], image[at], fill[at]);
    }
  }
}

}  // namespace hifi
