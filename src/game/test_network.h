// A network in memory for tests: a function of one picture, with a count of the pictures it was shown.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "model/network.h"

namespace hifi {

class TestNetwork : public Network {
 public:
  using Answer = std::function<void(std::span<const float> picture, std::span<double> out)>;

  TestNetwork(std::vector<std::size_t> shape, std::size_t outputs, std::size_t rows, Answer answer)
      : answer_(std::move(answer)) {
    info_.inputs = {{.name = "x", .shape = std::move(shape)}};
    info_.output = {.name = "y", .shape = {outputs}};
    info_.rows = rows;
    info_.library = "test";
  }

  const NetworkInfo& info() const override { return info_; }
  std::unique_ptr<NetworkSession> session() const override { return std::make_unique<Session>(*this); }
  std::uint64_t shown() const { return shown_; }

 private:
  class Session : public NetworkSession {
   public:
    explicit Session(const TestNetwork& network)
        : network_(network), input_(network.info_.rows * network.info_.inputs[0].size()) {}
    void* input(std::size_t) override { return input_.data(); }
    void run(std::size_t count, std::span<double> out) override {
      const std::size_t size = network_.info_.inputs[0].size();
      const std::size_t outputs = network_.info_.output.size();
      for (std::size_t k = 0; k < count; ++k)
        network_.answer_(std::span(input_).subspan(k * size, size), out.subspan(k * outputs, outputs));
      network_.shown_ += count;
    }

   private:
    const TestNetwork& network_;
    std::vector<float> input_;
  };

  Answer answer_;
  NetworkInfo info_;
  mutable std::atomic<std::uint64_t> shown_ = 0;
};

}  // namespace hifi
