// From the residual stream at the read position to a loss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/parallel.h"
#include "data/task_file.h"
#include "model/gpt2_forward.h"

namespace hifi {

enum class Measure { logit_difference, log_probability, probability, kl };

// logit-difference, log-probability, probability or kl. REQUIRES: one of them
Measure parse_measure(const std::string& name);

class Readout {
 public:
  // Runs the intact model where it is needed: for kl, and for the scale of a frozen final norm. Throws
  // Error(input) naming the prompt that lacks a distractor.
  Readout(const Gpt2& model, const PromptTask& task, Measure measure, bool freeze_norm, Workers& workers);

  struct Scratch {
    Buffer normed, logits;
  };
  // losses[k] = loss of residual row k, read for prompt prompts[k]; rows with prompt kNobody fill tiles.
  // `residual` has whole tiles.
  static constexpr std::uint32_t kNobody = UINT32_MAX;
  void losses(std::size_t rows, const float* residual, const std::uint32_t* prompts, Scratch& scratch,
              double* losses) const;

  // What it will hold.
  static std::uint64_t bytes(const Gpt2& model, const PromptTask& task, Measure measure) {
    return measure == Measure::kl ? task.prompts.size() * model.config().vocabulary * sizeof(float) : 0;
  }

 private:
  double loss(std::uint32_t prompt, const float* normed, const float* logits) const;
  void norm_row(std::uint32_t prompt, const float* x, float* out) const;

  const Gpt2& model_;
  const PromptTask& task_;
  Measure measure_;
  std::vector<float> scale_;   // of each prompt's final norm in the intact run; empty: not frozen
  std::vector<float> intact_;  // log-probabilities of the intact run: prompts x vocabulary
};

}  // namespace hifi
