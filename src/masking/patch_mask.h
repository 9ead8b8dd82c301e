// From a coalition of patches to the input of a model: how much of the image each pixel shows.
//
// Shares are whole numbers out of kWhole that add up to exactly kWhole at every pixel, so that masks do not
// depend on the order of their patches, all patches together show the image to the last bit, and none shows
// the fill.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hifi/coalition.h"
#include "masking/patches.h"

namespace hifi {

class PatchMask {
 public:
  static constexpr std::int16_t kWhole = 4096;

  // `feather` is the standard deviation, in pixels, of the Gaussian that softens the edges of patches; 0:
  // hard.
  PatchMask(const Patches& patches, double feather);

  std::size_t players() const { return begin_.size() - 1; }
  std::size_t pixels() const { return always_.size(); }
  std::uint64_t bytes() const;

  // out[pixel] = share of the image, 0 to kWhole.
  void shares(const Coalition& coalition, std::span<std::int16_t> out) const;

 private:
  // Consecutive pixels of a patch.
  struct Stretch {
    std::uint32_t pixel;
    std::uint32_t length;
    std::size_t shares;  // in shares_
  };
  void add_patch(const Patches& patches, std::uint32_t player, double feather);
  void make_whole(const Patches& patches);

  std::vector<Stretch> stretches_;  // player by player
  std::vector<std::size_t> begin_;
  std::vector<std::int16_t> shares_;
  std::vector<std::int16_t> always_;  // of no player
};

// out = image where the share is whole, fill where it is 0, a mixture between. Image, fill and out are in one
// layout: channel by channel, or the channels of a pixel side by side.
void mix(std::span<const std::int16_t> shares, std::span<const float> image, std::span<const float> fill,
         bool channels_first, float* out);

}  // namespace hifi
