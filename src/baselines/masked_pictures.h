// The answers of a network to one image of which every pixel is shown to a share: what deletion, insertion
// and RISE ask for. (Coalitions of patches go through game/image_game.)
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/network.h"
#include "model/session_pool.h"

namespace hifi {

class MaskedPictures {
 public:
  // REQUIRES: the network has one input of float32 and outlives this
  MaskedPictures(const Network& network, bool channels_first);

  // image and fill are inputs of the network; shares has a number in 0..1 for each of `count` pictures and
  // each pixel. Returns count x outputs. A pixel of share 1 is the image's to the last bit. Safe from any
  // thread.
  std::vector<double> answers(std::span<const float> image, std::span<const float> fill,
                              std::span<const float> shares, std::size_t count);

 private:
  const Network& network_;
  bool channels_first_;
  SessionPool sessions_;
};

}  // namespace hifi
