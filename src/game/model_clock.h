// Asks the model and counts what that costs, from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>

#include "game/game.h"
#include "model/model.h"

namespace hifi {

class ModelClock {
 public:
  void predict(const Model& model, std::span<const double> rows, std::size_t count, std::span<double> out) {
    const auto start = std::chrono::steady_clock::now();
    model.predict(rows, count, out);
    const auto took = std::chrono::steady_clock::now() - start;
    nanoseconds_ += static_cast<std::uint64_t>(std::chrono::nanoseconds(took).count());
    rows_ += count;
  }
  void add_evaluations(std::size_t count) { evaluations_ += count; }

  ModelUse use() const { return {.rows = rows_, .evaluations = evaluations_, .nanoseconds = nanoseconds_}; }

 private:
  std::atomic<std::uint64_t> rows_ = 0;
  std::atomic<std::uint64_t> evaluations_ = 0;
  std::atomic<std::uint64_t> nanoseconds_ = 0;
};

}  // namespace hifi
