#include "game/circuit_readout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/gemm.h"
#include "hifi/error.h"
#include "model/gpt2_kernels.h"

namespace hifi {

Measure parse_measure(const std::string& name) {
  if (name == "log-probability") return Measure::log_probability;
  if (name == "probability") return Measure::probability;
  return name == "kl" ? Measure::kl : Measure::logit_difference;
}

Readout::Readout(const Gpt2& model, const PromptTask& task, Measure measure, bool freeze_norm,
                 Workers& workers)
    : model_(model), task_(task), measure_(measure) {
  const std::size_t d = model.config().width;
  const std::size_t vocabulary = model.config().vocabulary;
  for (std::size_t k = 0; measure == Measure::logit_difference && k < task.prompts.size(); ++k) {
    const Prompt& prompt = task.prompts[k];
    if (prompt.distractor == kNoToken) {
      throw input_error(fmt::format("{}: prompts {}: has no distractor", task.source, k + 1),
                        "logit-difference needs one; log-probability does not");
    }
    if (prompt.distractor == prompt.answer) {
      throw input_error(fmt::format("{}: prompts {}: answer and distractor are one token, {}", task.source,
                                    k + 1, prompt.answer),
                        "their logits never differ");
    }
  }
  if (!freeze_norm && measure != Measure::kl) return;
  std::vector<float> scale(task.prompts.size());
  std::vector<float> intact(measure == Measure::kl ? task.prompts.size() * vocabulary : 0);
  workers.parallel_for(task.prompts.size(), [&](std::size_t k) {
    const TokenRows::Prompt prompt{.tokens = task.prompts[k].tokens};
    const TokenRows rows({&prompt, 1}, false);
    Gpt2Scratch scratch;
    Buffer x, normed, logits;
    forward(model, rows, scratch, x, {});
    const float* last = x.data() + rows.last(0) * d;
    float* row = normed.room(kRowTile * d);
    centre(1, d, last, model.config().epsilon, row, &scale[k]);
    if (measure != Measure::kl) return;
    norm_row(static_cast<std::uint32_t>(k), last, row);
    float* out = logits.room(kRowTile * vocabulary);
    unembed(model, 1, row, out);
    const double sum = log_sum_exp({out, vocabulary});
    for (std::size_t v = 0; v < vocabulary; ++v) {
      intact[k * vocabulary + v] = static_cast<float>(static_cast<double>(out[v]) - sum);
    }
  });
  intact_ = std::move(intact);
  if (freeze_norm) scale_ = std::move(scale);
}

void Readout::norm_row(std::uint32_t prompt, const float* x, float* out) const {
  const std::size_t d = model_.config().width;
  float scale = 0;
  centre(1, d, x, model_.config().epsilon, out, &scale);
  if (!scale_.empty()) scale = scale_[prompt];
  for (std::size_t k = 0; k < d; ++k) out[k] = out[k] * scale * model_.norm()[k] + model_.norm_bias()[k];
}

double Readout::loss(std::uint32_t prompt, const float* normed, const float* logits) const {
  const Prompt& read = task_.prompts[prompt];
  const std::size_t d = model_.config().width;
  const std::size_t vocabulary = model_.config().vocabulary;
  if (measure_ == Measure::logit_difference) {
    // In double: the difference of two large logits is what counts.
    const float* answer = model_.unembedding().data() + static_cast<std::size_t>(read.answer) * d;
    const float* distractor = model_.unembedding().data() + static_cast<std::size_t>(read.distractor) * d;
    double sum = 0;
    for (std::size_t k = 0; k < d; ++k) {
      sum += static_cast<double>(normed[k]) *
             (static_cast<double>(answer[k]) - static_cast<double>(distractor[k]));
    }
    return -sum;
  }
  const double total = log_sum_exp({logits, vocabulary});
  if (measure_ == Measure::kl) {
    const float* intact = intact_.data() + prompt * vocabulary;
    double sum = 0;
    for (std::size_t v = 0; v < vocabulary; ++v) {
      const auto p = static_cast<double>(intact[v]);
      sum += std::exp(p) * (p - (static_cast<double>(logits[v]) - total));
    }
    return sum;
  }
  const double log_probability = static_cast<double>(logits[static_cast<std::size_t>(read.answer)]) - total;
  return measure_ == Measure::probability ? -std::exp(log_probability) : -log_probability;
}

void Readout::losses(std::size_t rows, const float* residual, const std::uint32_t* prompts, Scratch& scratch,
                     double* losses) const {
  const std::size_t d = model_.config().width;
  const std::size_t vocabulary = model_.config().vocabulary;
  const bool all_tokens = measure_ != Measure::logit_difference;
  constexpr std::size_t kRows = 2 * kRowTile;  // of logits at a time: a vocabulary is wide
  for (std::size_t first = 0; first < rows; first += kRows) {
    const std::size_t count = std::min(kRows, rows - first);
    float* normed = scratch.normed.room(kRows * d);
    for (std::size_t k = 0; k < count; ++k) {
      const std::uint32_t prompt = prompts[first + k];
      if (prompt == kNobody) {
        std::fill_n(normed + k * d, d, 0.0F);
      } else {
        norm_row(prompt, residual + (first + k) * d, normed + k * d);
      }
    }
    float* logits = nullptr;
    if (all_tokens) {
      logits = scratch.logits.room(kRows * vocabulary);
      unembed(model_, count, normed, logits);
    }
    for (std::size_t k = 0; k < count; ++k) {
      const std::uint32_t prompt = prompts[first + k];
      if (prompt == kNobody) continue;
      losses[first + k] = loss(prompt, normed + k * d, all_tokens ? logits + k * vocabulary : nullptr);
    }
  }
}

}  // namespace hifi
