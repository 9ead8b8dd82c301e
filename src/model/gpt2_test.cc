#include <gtest/gtest.h>

#include "core/gemm.h"
#include "model/gpt2_forward.h"
#include "model/gpt2_kernels.h"
#include "model/test_gpt2.h"

namespace hifi {
namespace {

std::vector<std::int32_t> random_tokens(std::size_t count, std::size_t vocabulary, std::uint64_t seed) {
  RandomStream random(seed, Purpose::probe);
  std::vector<std::int32_t> tokens(count);
  for (auto& t : tokens) t = static_cast<std::int32_t>(random.next_u64() % vocabulary);
  return tokens;
}

// Logits of our engine at the last position of every prompt.
std::vector<std::vector<float>> our_logits(const Gpt2& model,
                                           const std::vector<std::vector<std::int32_t>>& prompts,
                                           bool share) {
  std::vector<TokenRows::Prompt> views;
  for (const auto& p : prompts) views.push_back({p});
  const TokenRows rows(views, share);
  Gpt2Scratch scratch;
  Buffer x;
  forward(model, rows, scratch, x, {});
  const std::size_t d = model.config().width;
  std::vector<std::vector<float>> result;
  for (std::size_t k = 0; k < prompts.size(); ++k) {
    std::vector<float> normed(kRowTile * d), logits(kRowTile * model.config().vocabulary);
    layer_norm(1, d, x.data() + rows.last(k) * d, model.norm().data(), model.norm_bias().data(),
               model.config().epsilon, normed.data());
    unembed(model, 1, normed.data(), logits.data());
    logits.resize(model.config().vocabulary);
    result.push_back(std::move(logits));
  }
  return result;
}

void expect_oracle(const TestGpt2& test) {
  TemporaryFolder folder;
  test.write(folder);
  const Gpt2 model(folder.path());
  std::vector<std::vector<std::int32_t>> prompts;
  for (const std::size_t length : {1U, 5U, 9U, 16U, 7U}) {
    prompts.push_back(random_tokens(length, test.vocabulary, length));
  }
  prompts.push_back(prompts[2]);  // one that shares all, and one that shares a beginning
  prompts.push_back(prompts[3]);
  prompts.back()[10] = (prompts.back()[10] + 1) % static_cast<std::int32_t>(test.vocabulary);
  const auto shared = our_logits(model, prompts, true);
  const auto apart = our_logits(model, prompts, false);
  for (std::size_t k = 0; k < prompts.size(); ++k) {
    const auto expected = test.logits(prompts[k]);
    for (std::size_t v = 0; v < expected.size(); ++v)
      EXPECT_NEAR(shared[k][v], expected[v], 2e-5) << k << " " << v;
    EXPECT_EQ(shared[k], apart[k]) << "sharing rows must not change a bit";
  }
}

TEST(Gpt2, LogitsAreThoseOfTheFormula) {
  expect_oracle(TestGpt2{}.fill());
  expect_oracle(TestGpt2{.layers = 1, .heads = 1, .width = 7, .inner = 28}.fill());
  expect_oracle(
      TestGpt2{.layers = 2, .heads = 2, .width = 32, .tied = false, .activation = "gelu", .prefix = ""}
          .fill());
  expect_oracle(
      TestGpt2{.activation = "relu", .more = {{"layer_norm_epsilon", 0.01}, {"scale_attn_weights", false}}}
          .fill());
  expect_oracle(
      TestGpt2{.activation = "gelu_pytorch_tanh", .more = {{"scale_attn_by_inverse_layer_idx", true}}}
          .fill());
}

TEST(Gpt2, KernelsAreTheFormulas) {
  for (float x = -12; x < 12; x += 0.0371F) {
    float y = x;
    activate(Activation::gelu_tanh, 1, &y);
    const double u = std::sqrt(2 / M_PI) * (x + 0.044715 * std::pow(static_cast<double>(x), 3));
    EXPECT_NEAR(y, x * (1 + std::tanh(u)) / 2, 4e-7 * std::abs(x) + 1e-7) << x;
  }
  EXPECT_NEAR(log_sum_exp(std::vector<float>{1, 2, 3}), std::log(std::exp(1) + std::exp(2) + std::exp(3)),
              1e-6);
  EXPECT_NEAR(log_sum_exp(std::vector<float>{-1000, 1000}), 1000, 1e-6);
}

TEST(Gpt2, RefusesOtherModels) {
  const auto refusal = [](const std::function<void(TestGpt2&)>& change) {
    TestGpt2 test = TestGpt2{}.fill();
    change(test);
    TemporaryFolder folder;
    test.write(folder);
    return error_of([&] { Gpt2 model(folder.path()); });
  };
  EXPECT_TRUE(contains(refusal([](TestGpt2& t) { t.more["model_type"] = "llama"; }), "unknown architecture"));
  EXPECT_TRUE(contains(refusal([](TestGpt2& t) { t.more["n_head"] = 5; }), "n_head"));
  EXPECT_TRUE(contains(refusal([](TestGpt2& t) { t.more["n_layer"] = -1; }), "n_layer"));
  EXPECT_TRUE(contains(refusal([](TestGpt2& t) { t.more["n_layer"] = 4; }), "h.3.ln_1.weight"));
  EXPECT_TRUE(contains(refusal([](TestGpt2& t) { t.more["activation_function"] = "swish"; }), "swish"));
  EXPECT_TRUE(contains(refusal([](TestGpt2& t) { t.more["vocab_size"] = 31; }), "asks for [31, 12]"));
  EXPECT_TRUE(contains(refusal([](TestGpt2& t) { t.tensors["ln_f.bias"].second[3] = NAN; }), "not finite"));
  EXPECT_TRUE(contains(error_of([] { Gpt2 model("/nonexistent"); }), "no such folder"));
}

}  // namespace
}  // namespace hifi
