#include "audit/check.h"

#include <gtest/gtest.h>

#include <atomic>

#include "core/test_folder.h"
#include "model/test_model.h"

namespace hifi {
namespace {

const Frame kRows{.rows = 3, .width = 1, .values = {1, 2, 3}};

TestModel twice() {
  return {1, [](std::span<const double> row) { return 2 * row[0]; }};
}

std::string checked(const std::string& text, const Model& model, ErrorCode code = ErrorCode::input) {
  const TemporaryFolder folder;
  const std::string path = folder.write("p.csv", text);
  std::string message = error_of([&] { check_predictions(model, kRows, path); }, code);
  if (message.starts_with(path + ": ")) message.erase(0, path.size() + 2);
  return message;
}

TEST(CheckPredictions, AgreementWithAndWithoutAHeader) {
  const TestModel model = twice();
  EXPECT_EQ(checked("prediction\n2\n4\n6\n", model), "no error");
  EXPECT_EQ(checked("2\n4\n6\n", model), "no error");
  EXPECT_EQ(checked("0\n2\n4\n6\n", model), "no error") << "pandas calls the column 0";
  EXPECT_EQ(checked("p\n2.000001\n3.99999\n6\n", model), "no error") << "printed with six digits";
}

TEST(CheckPredictions, NamesTheFirstRowThatDiffers) {
  const TestModel model = twice();
  EXPECT_EQ(checked("p\n2\n4.1\n7\n", model, ErrorCode::model), "data row 2: we predict 4, the owner 4.1");
  EXPECT_TRUE(
      contains(checked("p\n2\nnan\n6\n", model, ErrorCode::model), "data row 2: we predict 4, the owner"));
}

TEST(CheckPredictions, TablesThatDoNotFit) {
  const TestModel model = twice();
  EXPECT_EQ(checked("p\n2\n4\n", model), "has 2 rows, the data has 3");
  EXPECT_EQ(checked("p\n2\n4\n6\n8\n", model), "has 4 rows, the data has 3");
  EXPECT_EQ(checked("p,q\n2,1\n4,1\n6,1\n", model),
            "has 2 columns, the model answers each row with 1 number");
  EXPECT_TRUE(contains(checked("p\n2\nx\n6\n", model), "not a number"));
  EXPECT_NE(checked("", model), "no error");
}

TEST(CheckPredictions, SeveralOutputs) {
  const TestModel model(1, 2, [](std::span<const double> row, std::span<double> out) {
    out[0] = row[0];
    out[1] = -row[0];
  });
  EXPECT_EQ(checked("a,b\n1,-1\n2,-2\n3,-3\n", model), "no error");
  EXPECT_EQ(checked("0,1\n1,-1\n2,-2\n3,-3\n", model), "no error");
  EXPECT_EQ(checked("1,-1\n2,-2\n3,-3\n", model), "no error");
  EXPECT_EQ(checked("a,b\n1,-1\n2,-2\n3,-4\n", model, ErrorCode::model),
            "data row 3: we predict -3, the owner -4");
}

TEST(CheckDeterministic, AsksTwice) {
  TestModel steady = twice();
  const Loss loss({.kind = LossKind::squared}, steady.info());
  EXPECT_GE(check_deterministic(steady, loss, kRows).seconds_per_row, 0);
  EXPECT_EQ(steady.rows_seen, 6U);

  std::atomic<int> calls = 0;
  TestModel random(1, [&](std::span<const double> row) { return row[0] == 2 ? ++calls : 0; });
  random.info().path = "model.x";
  EXPECT_EQ(error_of([&] { check_deterministic(random, loss, kRows); }, ErrorCode::model),
            "model.x: is not deterministic: data row 2 got 1 and then 2");
}

TEST(CheckDeterministic, LooksAtTheAnswers) {
  TestModel large(1, [](std::span<const double>) { return 2.0; });
  const Loss log({.kind = LossKind::log}, large.info());
  EXPECT_TRUE(contains(error_of([&] { check_deterministic(large, log, kRows); }), "no probability"));
}

}  // namespace
}  // namespace hifi
