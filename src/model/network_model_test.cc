#include "model/network_model.h"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <thread>

#include "core/files.h"
#include "core/test_folder.h"
#include "hifi/error.h"
#include "model/test_onnx.h"

namespace hifi {
namespace {

// The sum of all inputs of a row; keeps what it was given.
class SumNetwork : public Network {
 public:
  explicit SumNetwork(std::vector<Port> inputs, std::size_t rows) {
    info_.inputs = std::move(inputs);
    info_.rows = rows;
    info_.library = "sum 1.0";
  }
  const NetworkInfo& info() const override { return info_; }
  std::unique_ptr<NetworkSession> session() const override;

  mutable std::atomic<int> sessions = 0;
  mutable std::atomic<int> runs = 0;
  mutable std::vector<std::vector<double>> seen;  // of each run, when one thread runs

 private:
  NetworkInfo info_;
};

class SumSession : public NetworkSession {
 public:
  explicit SumSession(const SumNetwork& network) : network_(network) {
    for (const Port& port : network.info().inputs) buffers_.emplace_back(network.info().rows * port.size());
  }
  void* input(std::size_t port) override { return buffers_[port].data(); }
  void run(std::size_t count, std::span<double> out) override {
    ++network_.runs;
    std::vector<double> all;
    for (std::size_t r = 0; r < network_.info().rows; ++r) {
      double sum = 0;
      for (std::size_t k = 0; k < buffers_.size(); ++k) {
        const Port& port = network_.info().inputs[k];
        for (std::size_t c = 0; c < port.size(); ++c) {
          const std::int64_t bits = buffers_[k][r * port.size() + c];
          sum += port.element == Element::i64 ? static_cast<double>(bits) : std::bit_cast<double>(bits);
        }
      }
      all.push_back(sum);
    }
    std::copy_n(all.begin(), count, out.begin());
    if (keep) network_.seen.push_back(all);
  }
  static inline bool keep = false;

 private:
  const SumNetwork& network_;
  std::vector<std::vector<std::int64_t>> buffers_;
};

std::unique_ptr<NetworkSession> SumNetwork::session() const {
  ++sessions;
  return std::make_unique<SumSession>(*this);
}

Port doubles(std::string name, std::vector<std::size_t> shape) {
  return {.name = std::move(name), .element = Element::f64, .shape = std::move(shape)};
}

TEST(NetworkModel, EveryRunHasTheSameShape) {
  auto owned = std::make_unique<SumNetwork>(std::vector<Port>{doubles("x", {2})}, 4);
  const SumNetwork& network = *owned;
  const auto model = make_network_model(std::move(owned), {.path = "m"});
  EXPECT_EQ(model->info().width, 2U);
  EXPECT_TRUE(model->info().columns.empty());
  EXPECT_EQ(model->info().run_rows, 4U);
  EXPECT_EQ(model->info().library, "sum 1.0");
  std::vector<double> rows, out(6);
  for (int r = 0; r < 6; ++r) rows.insert(rows.end(), {1.0 * r, 10.0 * r});
  SumSession::keep = true;
  model->predict(rows, 6, out);
  SumSession::keep = false;
  EXPECT_EQ(out, (std::vector<double>{0, 11, 22, 33, 44, 55}));
  // What is left over repeats the first row of its run.
  EXPECT_EQ(network.seen, (std::vector<std::vector<double>>{{0, 11, 22, 33}, {44, 55, 44, 44}}));
  EXPECT_EQ(network.sessions, 1);
}

TEST(NetworkModel, SeveralNumbersAreColumnsByName) {
  const auto model = make_network_model(
      std::make_unique<SumNetwork>(
          std::vector<Port>{doubles("a", {1}), {.name = "b", .element = Element::i64}, doubles("c", {1, 1})},
          2),
      {.path = "m"});
  EXPECT_EQ(model->info().columns, (std::vector<std::string>{"a", "b", "c"}));
  std::vector<double> out(3);
  model->predict(std::vector<double>{0.5, 1, 0.25, 0, -7, 0, 1, 1, 1}, 3, out);
  EXPECT_EQ(out, (std::vector<double>{1.75, -7, 3}));
  for (const double bad : {0.5, std::numeric_limits<double>::quiet_NaN(), 1e300}) {
    try {
      model->predict(std::vector<double>{0, bad, 0}, 1, out);
      FAIL() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::input);
      EXPECT_NE(std::string(error.what()).find("input \"b\" takes whole numbers"), std::string::npos);
    }
  }
}

TEST(NetworkModel, SessionsAreSharedButNeverAtOnce) {
  auto owned = std::make_unique<SumNetwork>(std::vector<Port>{doubles("x", {1})}, 8);
  const SumNetwork& network = *owned;
  const auto model = make_network_model(std::move(owned), {.path = "m"});
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < 200; ++k) {
        std::vector<double> out(3);
        const double value = 1000.0 * t + k;
        model->predict(std::vector<double>{value, value + 1, value + 2}, 3, out);
        if (out != std::vector<double>{value, value + 1, value + 2}) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(network.sessions, 4);
  EXPECT_EQ(network.runs, 800);
}

// Each of the next two runs in a process of its own when ctest runs them, so the order of opening is theirs.
class Plugins : public ::testing::Test {
 protected:
  static void read_a_table() {
    const TemporaryFolder folder;
    const std::string path = folder.write("t.csv", "a,b\n1,2\n3,4\n");
    EXPECT_EQ(read_table(path).rows, 2U);
  }
  // y = 2 a - 3 b
  static void run_onnx() {
    using namespace onnx;
    const std::string content =
        model_file(node_field("MatMul", "", {"x", "w"}, {"y"}) +
                   initialiser_field("w", 1, {2, 1}, raw_bytes({2.0F, -3.0F})) +
                   value_field(11, "x", 1, {-1, 2}) + value_field(12, "y", 1, {-1, 1}));
    const auto model = open_onnx("m.onnx", content, 2, {});
    std::vector<double> out(2);
    model->predict(std::vector<double>{1, 1, 0.5, -2}, 2, out);
    EXPECT_EQ(out, (std::vector<double>{-1, 7}));
  }
  static void run_torch() {
    const std::string path = HIFI_SOURCE_DIR "/tests/fixtures/torchscript/regressor.pt";
    const auto model = open_torchscript(path, read_file(path), 4, {});
    std::vector<double> out(2);
    model->predict(std::vector<double>{0, 1, 2, 3, 0, 1, 2, 3}, 2, out);
    EXPECT_EQ(out[0], out[1]);
    EXPECT_TRUE(std::isfinite(out[0]));
  }
};

TEST_F(Plugins, TablesThenOpenVinoThenTorch) {
  read_a_table();
  run_onnx();
  run_torch();
  read_a_table();
}

TEST_F(Plugins, TorchThenOpenVinoThenTables) {
  run_torch();
  run_onnx();
  read_a_table();
  run_torch();
}

}  // namespace
}  // namespace hifi
