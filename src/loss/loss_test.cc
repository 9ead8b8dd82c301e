#include "loss/loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/test_folder.h"
#include "masking/test_table.h"

namespace hifi {
namespace {

ModelInfo model(std::size_t outputs, Task task = Task::unknown) {
  return {.path = "m", .objective = "their words", .task = task, .outputs = outputs};
}

double one(const LossOptions& options, std::vector<double> prediction, double truth) {
  const Loss loss(options, model(prediction.size()));
  loss.check(prediction);
  double out = 0;
  const std::uint32_t row = 0;
  loss.evaluate(prediction, {&row, 1}, truth, {&out, 1});
  return out;
}

double one(LossKind kind, std::vector<double> prediction, double truth) {
  return one({.kind = kind}, std::move(prediction), truth);
}

TEST(Loss, ByHand) {
  EXPECT_EQ(one(LossKind::squared, {3}, 1), 4);
  EXPECT_EQ(one(LossKind::absolute, {3}, 5), 2);
  EXPECT_EQ(one(LossKind::log, {0.25}, 1), std::log(4));
  EXPECT_EQ(one(LossKind::log, {0.75}, 0), std::log(4));
  EXPECT_EQ(one(LossKind::log, {0.5, 0.25, 0.25}, 2), std::log(4));
  EXPECT_EQ(one(LossKind::brier, {0.25}, 1), 0.5625);
  EXPECT_EQ(one(LossKind::brier, {0.75, 0.25}, 1), 0.5625) << "two classes: (p - y)^2, not the sum";
  EXPECT_EQ(one(LossKind::brier, {0.5, 0.25, 0.25}, 0), 0.25 + 0.0625 + 0.0625);
  EXPECT_EQ(one(LossKind::prediction, {3}, 0), -3);
}

TEST(Loss, ZeroOneTiesGoToTheLowestClass) {
  EXPECT_EQ(one(LossKind::zero_one, {0.5}, 0), 0) << "class 1 only when p > 0.5";
  EXPECT_EQ(one(LossKind::zero_one, {0.5}, 1), 1);
  EXPECT_EQ(one(LossKind::zero_one, {0.51}, 1), 0);
  EXPECT_EQ(one(LossKind::zero_one, {0.5, 0.5}, 0), 0);
  EXPECT_EQ(one(LossKind::zero_one, {0.2, 0.4, 0.4}, 1), 0);
  EXPECT_EQ(one(LossKind::zero_one, {0.2, 0.4, 0.4}, 2), 1);
}

TEST(Loss, LogClipsAtTheFloor) {
  const double most = -std::log(1e-15);
  EXPECT_EQ(one(LossKind::log, {0}, 1), most);
  EXPECT_EQ(one(LossKind::log, {1}, 0), most);
  EXPECT_EQ(one(LossKind::log, {1, 0}, 1), most);
  EXPECT_EQ(one(LossKind::log, {1 + 1e-7}, 0), most) << "a float32 may leave [0,1] by rounding";
  EXPECT_EQ(one(LossKind::log, {1}, 1), -std::log(1 - 1e-15));
}

TEST(Loss, EvaluatesTheRowThatItIsPointedTo) {
  const Loss loss({.kind = LossKind::log}, model(2));
  const std::vector<double> predictions = {0.5, 0.5, 0.75, 0.25};
  const std::vector<std::uint32_t> rows = {1, 0, 1};
  std::vector<double> out(3);
  loss.evaluate(predictions, rows, 0, out);
  EXPECT_EQ(out, (std::vector<double>{-std::log(0.75), -std::log(0.5), -std::log(0.75)}));
}

TEST(Loss, Links) {
  EXPECT_EQ(one({.kind = LossKind::log, .link = Link::sigmoid}, {0}, 1), std::log(2));
  EXPECT_NEAR(one({.kind = LossKind::log, .link = Link::softmax}, {1000, 1000, -1000}, 0), std::log(2),
              1e-15);
  EXPECT_NEAR(one({.kind = LossKind::brier, .link = Link::sigmoid}, {-1000}, 1), 1, 1e-15);
}

TEST(Loss, PredictionOfAClass) {
  EXPECT_EQ(one({.kind = LossKind::prediction}, {0.25, 0.75}, 0), -0.75) << "class 1 of two by default";
  EXPECT_EQ(one({.kind = LossKind::prediction, .target_class = "0"}, {0.25, 0.75}, 0), -0.25);
  EXPECT_EQ(one({.kind = LossKind::prediction, .target_class = "2"}, {0.1, 0.2, 0.7}, 0), -0.7);
  EXPECT_EQ(one({.kind = LossKind::prediction, .target_class = "a", .classes = {"b", "a"}}, {0.25, 0.75}, 0),
            -0.75);
  const Loss loss({.kind = LossKind::prediction, .target_class = "0"}, model(1, Task::classification));
  const std::vector<double> p = {0.25};
  const std::uint32_t row = 0;
  double out = 0;
  loss.evaluate(p, {&row, 1}, 0, {&out, 1});
  EXPECT_EQ(out, -0.75) << "class 0 of p(class 1) is its complement";
}

TEST(Loss, DefaultsFollowTheModel) {
  EXPECT_EQ(Loss({}, model(1)).kind(), LossKind::squared);
  EXPECT_EQ(Loss({}, model(1, Task::regression)).kind(), LossKind::squared);
  EXPECT_EQ(Loss({}, model(1, Task::classification)).kind(), LossKind::log);
  EXPECT_EQ(Loss({}, model(3, Task::classification)).kind(), LossKind::log);
}

TEST(Loss, RefusesWhatDoesNotFit) {
  const auto refused = [](const LossOptions& options, const ModelInfo& info) {
    return error_of([&] { Loss(options, info); });
  };
  EXPECT_TRUE(contains(refused({.kind = LossKind::log}, model(1, Task::regression)),
                       "log loss needs a classifier, the model declares the objective their words"));
  EXPECT_TRUE(contains(refused({.kind = LossKind::squared}, model(3)), "squared loss needs one output"));
  EXPECT_TRUE(contains(refused({.kind = LossKind::log, .link = Link::softmax}, model(1)), "several outputs"));
  EXPECT_TRUE(contains(refused({.kind = LossKind::prediction}, model(3)), "the model has 3 classes"));
  EXPECT_TRUE(contains(refused({.kind = LossKind::prediction, .target_class = "3"}, model(3)),
                       "--class 3: the model has classes 0 to 2"));
  for (const char* bad : {"-1", "1.5", "x", " 1", "1x"}) {
    EXPECT_TRUE(contains(refused({.kind = LossKind::prediction, .target_class = bad}, model(3)), "--class"));
  }
  EXPECT_TRUE(contains(refused({.kind = LossKind::prediction, .target_class = "0"}, model(1)), "classifier"));
  EXPECT_TRUE(contains(refused({.kind = LossKind::log, .classes = {"a", "b"}}, model(3)),
                       "--classes names 2 classes, the model has 3"));
}

TEST(Loss, ChecksPredictions) {
  const Loss log({.kind = LossKind::log}, model(1));
  const Loss squared({.kind = LossKind::squared}, model(1));
  std::vector<double> p = {0.5, NAN};
  EXPECT_TRUE(contains(error_of([&] { squared.check(p); }, ErrorCode::model), "answered nan for row 2"));
  p = {INFINITY};
  EXPECT_TRUE(contains(error_of([&] { squared.check(p); }, ErrorCode::model), "answered inf"));
  p = {1.5};
  squared.check(p);
  EXPECT_TRUE(contains(error_of([&] { log.check(p); }), "answered 1.5, which is no probability"));
  p = {-0.1};
  EXPECT_TRUE(contains(error_of([&] { log.check(p); }), "no probability"));
}

TEST(Loss, RefusesWhatCannotBeSummed) {
  for (const auto& [kind, most] : {std::pair(LossKind::squared, 1e70), std::pair(LossKind::absolute, 1e140),
                                   std::pair(LossKind::prediction, 1e140)}) {
    EXPECT_TRUE(std::isfinite(1e9 * std::pow(one(kind, {most}, -most), 2)));
    const auto beyond = [&] { one(kind, {-1.01 * most}, 0); };
    EXPECT_TRUE(contains(error_of(beyond, ErrorCode::model), "cannot be summed"));
  }
  EXPECT_EQ(one({.kind = LossKind::brier, .link = Link::sigmoid}, {1e200}, 1), 0) << "a link bounds it";
}

TEST(Loss, NamesRoundTrip) {
  for (const char* name : {"squared", "absolute", "log", "brier", "zero-one", "prediction"}) {
    ASSERT_TRUE(parse_loss(name));
    EXPECT_EQ(loss_name(*parse_loss(name)), name);
  }
  EXPECT_FALSE(parse_loss("mse"));
  EXPECT_FALSE(parse_loss(""));
}

TEST(Truth, Numbers) {
  const Loss loss({.kind = LossKind::squared}, model(1));
  const auto read = [&](Column column) { return loss.read_truth(table_of({std::move(column)}), "y"); };
  EXPECT_EQ(read(number_column("y", {1.5, -2})), (std::vector<double>{1.5, -2}));
  EXPECT_EQ(read(boolean_column("y", {1, 0})), (std::vector<double>{1, 0}));
  EXPECT_EQ(error_of([&] {
              read(number_column("y", {1, kMissing}));
            }),
            "t.csv: column \"y\", data row 2 (line 3): the truth is missing");
  EXPECT_TRUE(contains(error_of([&] { read(number_column("y", {INFINITY})); }), "the truth is infinite"));
  EXPECT_TRUE(contains(error_of([&] { read(text_column("y", {"a"}, {0})); }), "not a number"));
  EXPECT_TRUE(contains(error_of([&] { read(number_column("z", {1})); }), "there is no column \"y\""));
}

TEST(Truth, Classes) {
  const Loss two({.kind = LossKind::log}, model(1));
  const Loss three({.kind = LossKind::log}, model(3));
  const auto read = [&](const Loss& loss, Column column) {
    return loss.read_truth(table_of({std::move(column)}), "y");
  };
  EXPECT_EQ(read(three, number_column("y", {0, 2})), (std::vector<double>{0, 2}));
  EXPECT_EQ(read(two, boolean_column("y", {1, 0})), (std::vector<double>{1, 0}));
  for (const double bad : {2.0, -1.0, 0.5, HUGE_VAL}) {
    EXPECT_TRUE(contains(error_of([&] { read(two, number_column("y", {bad})); }),
                         "is no class of the model, which has classes 0 to 1"))
        << bad;
  }
  EXPECT_EQ(error_of([&] {
              read(two, text_column("y", {"yes", "no"}, {0, 1}));
            }),
            "t.csv: column \"y\" holds text and the model carries no labels; its values are no, yes");
}

TEST(Truth, Labels) {
  const Loss loss({.kind = LossKind::log, .classes = {"no", "yes"}}, model(1));
  const auto read = [](const Loss& by, Column column) {
    return by.read_truth(table_of({std::move(column)}), "y");
  };
  EXPECT_EQ(read(loss, text_column("y", {"yes", "no"}, {0, 1, 0})), (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(error_of([&] {
              read(loss, text_column("y", {"yes", "maybe"}, {0, 1}));
            }),
            "t.csv: column \"y\", data row 2 (line 3): \"maybe\" is none of the classes no, yes");
  EXPECT_TRUE(contains(error_of([&] { read(loss, number_column("y", {1})); }), "\"1\" is none"));
  const Loss numbers({.kind = LossKind::log, .classes = {"7", "3"}}, model(1));
  EXPECT_EQ(read(numbers, number_column("y", {3, 7})), (std::vector<double>{1, 0}));
}

TEST(Truth, LabelsOfABooleanColumn) {
  const auto read = [](std::vector<std::string> classes) {
    const Loss loss({.kind = LossKind::log, .classes = std::move(classes)}, model(1));
    return loss.read_truth(table_of({boolean_column("y", {1, 0})}), "y");
  };
  EXPECT_EQ(read({"false", "true"}), (std::vector<double>{1, 0}));
  EXPECT_EQ(read({"True", "False"}), (std::vector<double>{0, 1}));
  EXPECT_EQ(read({"0", "1"}), (std::vector<double>{1, 0}));
  EXPECT_TRUE(contains(error_of([&] { read({"no", "yes"}); }), "\"true\" is none of the classes no, yes"));
}

TEST(Truth, PredictionNeedsNone) {
  const Loss loss({.kind = LossKind::prediction}, model(1));
  EXPECT_EQ(loss.read_truth(table_of({number_column("x", {1, 2})}), ""), (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace hifi
