#include "game/circuit_ablation.h"

#include <fmt/format.h>

#include <algorithm>

#include "hifi/error.h"

namespace hifi {

Ablation parse_ablation(const std::string& name) {
  if (name == "zero") return Ablation::zero;
  return name == "resample" ? Ablation::resample : Ablation::mean;
}

std::uint64_t Replacements::bytes(const Gpt2& model, const PromptTask& task, Ablation ablation,
                                  const std::vector<bool>& layers) {
  const auto used = static_cast<std::uint64_t>(std::count(layers.begin(), layers.end(), true));
  const std::uint64_t sources = ablation == Ablation::resample ? task.reference.size() : 1;
  const bool by_position = ablation != Ablation::zero && task.aligned();
  const std::uint64_t positions = by_position ? task.prompts.front().tokens.size() : 1;
  return used * sources * positions * model.config().width * sizeof(float);
}

Replacements::Replacements(const Gpt2& model, const PromptTask& task, Ablation ablation,
                           const std::vector<bool>& layers, Workers& workers)
    : width_(model.config().width), slot_(layers.size()) {
  std::size_t used = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) slot_[l] = layers[l] ? used++ : 0;
  if (ablation != Ablation::zero && task.reference.empty()) {
    throw input_error(fmt::format("{}: has no reference prompts, which --ablation {} needs", task.source,
                                  ablation == Ablation::mean ? "mean" : "resample"),
                      "add \"reference\", or use --ablation zero");
  }
  if (ablation == Ablation::resample && !task.aligned()) {
    throw input_error(fmt::format("{}: prompts and reference prompts have unequal lengths, which --ablation "
                                  "resample cannot match",
                                  task.source),
                      "use --ablation mean, or prompts of one length");
  }
  if (ablation == Ablation::resample) sources_ = task.reference.size();
  by_position_ = ablation != Ablation::zero && task.aligned();
  if (by_position_) positions_ = task.prompts.front().tokens.size();
  values_.resize(used * sources_ * positions_ * width_);
  if (ablation == Ablation::zero || used == 0) return;
  std::vector<std::size_t> chosen;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (layers[l]) chosen.push_back(l);
  }
  // A prompt per task; sums go by prompt afterwards, in their order. Not too many numbers at once.
  constexpr std::size_t kNumbers = std::size_t{1} << 23;
  std::size_t longest = 1;
  for (const Prompt& p : task.reference) longest = std::max(longest, p.tokens.size());
  const std::size_t wave = std::clamp<std::size_t>(kNumbers / (used * longest * width_), 1, 32);
  std::size_t rows_seen = 0;
  std::vector<double> sums(ablation == Ablation::mean ? values_.size() : 0);
  for (std::size_t first = 0; first < task.reference.size(); first += wave) {
    const std::size_t count = std::min(wave, task.reference.size() - first);
    std::vector<std::vector<float>> found(count);  // layer slot x position x width
    workers.parallel_for(count, [&](std::size_t k) {
      const TokenRows::Prompt prompt{.tokens = task.reference[first + k].tokens};
      const TokenRows rows({&prompt, 1}, false);
      const std::size_t length = prompt.tokens.size();
      found[k].resize(used * length * width_);
      Gpt2Scratch scratch;
      Buffer x;
      forward(model, rows, scratch, x, [&](std::size_t layer, float* z) {
        if (!layers[layer]) return;
        const auto path = rows.ancestors(rows.last(0));
        for (std::size_t p = 0; p < length; ++p) {
          std::copy_n(z + path[p] * width_, width_, found[k].data() + (slot_[layer] * length + p) * width_);
        }
      });
    });
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t length = task.reference[first + k].tokens.size();
      rows_seen += length;
      for (std::size_t s = 0; s < used; ++s) {
        for (std::size_t p = 0; p < length; ++p) {
          const float* from = found[k].data() + (s * length + p) * width_;
          const std::size_t source = ablation == Ablation::resample ? first + k : 0;
          const std::size_t to = ((s * sources_ + source) * positions_ + (by_position_ ? p : 0)) * width_;
          for (std::size_t j = 0; j < width_; ++j) {
            if (ablation == Ablation::mean) {
              sums[to + j] += from[j];
            } else {
              values_[to + j] = from[j];
            }
          }
        }
      }
    }
  }
  if (ablation != Ablation::mean) return;
  const auto weight = static_cast<double>(by_position_ ? task.reference.size() : rows_seen);
  for (std::size_t k = 0; k < values_.size(); ++k) values_[k] = static_cast<float>(sums[k] / weight);
}

}  // namespace hifi
