#include "model/network_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "hifi/error.h"
#include "model/session_pool.h"

namespace hifi {

namespace {

constexpr std::size_t kTaskRows = 4096;
constexpr std::uint64_t kCallers = 16;  // that memory is planned for: it must not depend on the machine
constexpr std::size_t kTaskNumbers = std::size_t{1} << 22;

constexpr double kWhole = 0x1p53;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Accepts accepts(Element element) {
  if (element == Element::i64)
    return {.type = "whole numbers", .low = -kWhole, .high = kWhole, .whole = true};
  return {.type = "numbers", .low = -kInfinity, .high = kInfinity, .missing = true};
}

class NetworkModel : public Model {
 public:
  NetworkModel(std::unique_ptr<Network> network, ModelInfo info)
      : network_(std::move(network)), info_(std::move(info)), sessions_(*network_) {
    const NetworkInfo& net = network_->info();
    const bool named =
        net.inputs.size() > 1 &&
        std::all_of(net.inputs.begin(), net.inputs.end(), [](const Port& port) { return port.size() == 1; });
    for (const Port& port : net.inputs) {
      first_column_.push_back(info_.width);
      info_.width += port.size();
      if (named) info_.columns.push_back(port.name);
      info_.accepts.insert(info_.accepts.end(), port.size(), accepts(port.element));
    }
    info_.outputs = net.output.size();
    if (info_.outputs > 1) info_.task = Task::classification;
    info_.library = net.library;
    info_.precision = net.precision;
    info_.run_rows = net.rows;
    // Many runs to a task: what is left over when identical rows are gone fills most of the last one.
    const std::size_t wide = std::max<std::size_t>(1, kTaskNumbers / std::max<std::size_t>(1, info_.width));
    info_.batch_rows = std::max(net.rows, std::bit_floor(std::min(kTaskRows, wide)));
    info_.notes = net.notes;
    info_.splits_batches = true;
    info_.bytes += kCallers * net.bytes;
  }

  const ModelInfo& info() const override { return info_; }

  void predict(std::span<const double> rows, std::size_t count, std::span<double> out) const override {
    auto session = sessions_.take();
    const std::size_t shape = network_->info().rows;
    for (std::size_t begin = 0; begin < count; begin += shape) {
      const std::size_t some = std::min(shape, count - begin);
      fill(*session, rows.subspan(begin * info_.width, some * info_.width), some);
      session->run(some, out.subspan(begin * info_.outputs, some * info_.outputs));
    }
    sessions_.give_back(std::move(session));  // not after an error: who knows what state it is in
  }

 private:
  void fill(NetworkSession& session, std::span<const double> rows, std::size_t count) const {
    for (std::size_t k = 0; k < first_column_.size(); ++k) {
      switch (network_->info().inputs[k].element) {
        case Element::f32:
          fill_port(k, static_cast<float*>(session.input(k)), rows, count);
          break;
        case Element::f64:
          fill_port(k, static_cast<double*>(session.input(k)), rows, count);
          break;
        case Element::i64:
          fill_port(k, static_cast<std::int64_t*>(session.input(k)), rows, count);
          break;
      }
    }
  }

  // The rows that are left over repeat the first one.
  template <class T>
  void fill_port(std::size_t port, T* input, std::span<const double> rows, std::size_t count) const {
    const std::size_t width = network_->info().inputs[port].size(), shape = network_->info().rows;
    const double* from = rows.data() + first_column_[port];
    for (std::size_t r = 0; r < count; ++r, from += info_.width) {
      for (std::size_t c = 0; c < width; ++c) {
        if constexpr (std::is_integral_v<T>) check_whole(port, from[c]);
        input[r * width + c] = static_cast<T>(from[c]);
      }
    }
    for (std::size_t r = count; r < shape; ++r) std::copy_n(input, width, input + r * width);
  }

  void check_whole(std::size_t port, double value) const {
    static const Accepts whole = accepts(Element::i64);
    if (whole.takes(value)) return;
    throw input_error(fmt::format("{}: input \"{}\" takes whole numbers, a row has {}", info_.path,
                                  network_->info().inputs[port].name,
                                  std::isnan(value) ? "a missing value" : fmt::format("{}", value)));
  }

  std::unique_ptr<Network> network_;
  ModelInfo info_;
  std::vector<std::size_t> first_column_;  // of each input
  mutable SessionPool sessions_;
};

}  // namespace

std::unique_ptr<Model> make_network_model(std::unique_ptr<Network> network, ModelInfo info) {
  return std::make_unique<NetworkModel>(std::move(network), std::move(info));
}

}  // namespace hifi
