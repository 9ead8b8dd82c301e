// What absent heads are replaced by: their z (before the projection) on reference prompts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/parallel.h"
#include "data/task_file.h"
#include "model/gpt2_forward.h"

namespace hifi {

enum class Ablation { mean, zero, resample };

// mean, zero or resample. REQUIRES: one of them
Ablation parse_ablation(const std::string& name);

// z of all heads of the layers that have players, by source and position. Mean and zero have one source,
// resample one per reference prompt.
class Replacements {
 public:
  // `layers[l]`: layer l has players. Throws Error(input): no reference prompts, or unequal lengths under
  // resample.
  Replacements(const Gpt2& model, const PromptTask& task, Ablation ablation, const std::vector<bool>& layers,
               Workers& workers);

  std::size_t sources() const { return sources_; }
  bool by_position() const { return by_position_; }
  // What they will hold.
  static std::uint64_t bytes(const Gpt2& model, const PromptTask& task, Ablation ablation,
                             const std::vector<bool>& layers);
  // Heads one after the other, as in z.
  const float* at(std::size_t layer, std::uint32_t source, std::uint32_t position) const {
    const std::size_t p = by_position_ ? position : 0;
    return values_.data() + ((slot_[layer] * sources_ + source) * positions_ + p) * width_;
  }

 private:
  std::size_t width_ = 0;
  std::size_t sources_ = 1;
  std::size_t positions_ = 1;
  bool by_position_ = false;
  std::vector<std::size_t> slot_;  // of each layer
  std::vector<float> values_;      // layer slot x source x position x width
};

}  // namespace hifi
