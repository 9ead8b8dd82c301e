// Games of images: patches in or out of a picture, what the model says to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "game/game.h"
#include "loss/class_reading.h"
#include "masking/patch_mask.h"
#include "model/network.h"
#include "model/session_pool.h"

namespace hifi {

// One image as the model gets it, and what may stand in for its patches.
struct ImageInput {
  std::vector<float> image;
  std::vector<std::vector<float>> fills;
};

// One picture to be shown: the patches of a coalition, one of the fills for the rest.
struct ImageCall {
  const PatchMask* mask = nullptr;
  const Coalition* coalition = nullptr;
  std::size_t fill = 0;
};

// A network that is shown masked images. Batches have the network's shape, in the order of the calls, so
// answers do not depend on threads.
class ImageNetwork {
 public:
  // REQUIRES: one input of real numbers; the network outlives this
  ImageNetwork(const Network& network, bool channels_first);

  std::size_t outputs() const { return network_.info().output.size(); }
  // Pictures so far, and the time within the network, summed over threads.
  ModelUse use() const { return {.rows = shown_, .evaluations = shown_, .nanoseconds = nanoseconds_}; }

  // out: calls x outputs, raw.
  void answers(const ImageInput& input, std::span<const ImageCall> calls, std::span<double> out,
               Workers& workers);

 private:
  void show(const ImageInput& input, std::span<const ImageCall> calls, std::span<double> out);

  const Network& network_;
  bool channels_first_;
  SessionPool sessions_;
  std::atomic<std::uint64_t> shown_ = 0;
  std::atomic<std::uint64_t> nanoseconds_ = 0;
};

// The game of one image under one set of patches: draw d is the fill of its background number.
class ImageGame : public Game {
 public:
  // All must outlive the game.
  ImageGame(ImageNetwork& network, const ImageInput& input, const PatchMask& mask,
            const ClassReading& reading)
      : network_(network), input_(input), mask_(mask), reading_(reading) {}

  std::size_t players() const override { return mask_.players(); }
  ModelUse model_use() const override { return network_.use(); }
  void losses(const CoalitionList& coalitions, std::span<const Draw> draws, std::span<double> out,
              Workers& workers) override;
  // The same as loss and log-odds: out[c * fills + f] of all fills.
  void readings(std::span<const Coalition> coalitions, std::span<Reading> out, Workers& workers);

 private:
  ImageNetwork& network_;
  const ImageInput& input_;
  const PatchMask& mask_;
  const ClassReading& reading_;
};

}  // namespace hifi
