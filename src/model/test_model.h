// A model made of a function, for tests. It counts what it is asked and can fail at a call.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "hifi/error.h"
#include "model/model.h"

namespace hifi {

class TestModel : public Model {
 public:
  using Function = std::function<void(std::span<const double> row, std::span<double> out)>;

  TestModel(std::size_t width, std::size_t outputs, Function function) : function_(std::move(function)) {
    info_.path = "test";
    info_.format = "test";
    info_.width = width;
    info_.outputs = outputs;
  }
  TestModel(std::size_t width, std::function<double(std::span<const double>)> function)
      : TestModel(width, 1, [f = std::move(function)](std::span<const double> row, std::span<double> out) {
          out[0] = f(row);
        }) {}

  const ModelInfo& info() const override { return info_; }
  ModelInfo& info() { return info_; }

  void predict(std::span<const double> rows, std::size_t count, std::span<double> out) const override {
    if (++calls == fail_at_call) throw Error(failure, "the model failed");
    rows_seen += count;
    for (std::size_t r = 0; r < count; ++r) {
      function_(rows.subspan(r * info_.width, info_.width), out.subspan(r * info_.outputs, info_.outputs));
    }
    if (!keep_batches) return;
    const std::lock_guard lock(mutex_);
    batches.emplace_back(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count * info_.width));
  }

  // The function alone, not counted.
  void evaluate(std::span<const double> row, std::span<double> out) const { function_(row, out); }

  mutable std::atomic<std::size_t> calls = 0;
  mutable std::atomic<std::size_t> rows_seen = 0;
  std::size_t fail_at_call = 0;  // 0: never
  ErrorCode failure = ErrorCode::model;
  bool keep_batches = false;
  mutable std::vector<std::vector<double>> batches;

 private:
  ModelInfo info_;
  Function function_;
  mutable std::mutex mutex_;
};

}  // namespace hifi
