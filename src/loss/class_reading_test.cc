#include "loss/class_reading.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "hifi/error.h"

namespace hifi {
namespace {

using Numbers = std::vector<double>;
using M = ClassMeasure;

TEST(ClassReading, ReadsProbabilitiesOfOneOutput) {
  const Numbers p{.8};
  EXPECT_NEAR((ClassReading{M::log, Link::none, true, 1}(p).loss), -std::log(.8), 1e-12);
  EXPECT_NEAR((ClassReading{M::log, Link::none, true, 0}(p).loss), -std::log(.2), 1e-12);
  EXPECT_NEAR((ClassReading{M::log, Link::none, true, 1}(p).logit), std::log(4), 1e-12);
  EXPECT_NEAR((ClassReading{M::log, Link::none, true, 0}(p).logit), -std::log(4), 1e-12);
  EXPECT_NEAR((ClassReading{M::brier, Link::none, true, 0}(p).loss), .64, 1e-12);
  EXPECT_EQ((ClassReading{M::zero_one, Link::none, true, 0}(p).loss), 1);
  EXPECT_EQ((ClassReading{M::zero_one, Link::none, true, 1}(p).loss), 0);
  EXPECT_EQ((ClassReading{M::zero_one, Link::none, true, 1}(Numbers{.5}).loss),
            1);  // class 1 only above one half
  EXPECT_EQ((ClassReading{M::zero_one, Link::none, true, 0}(Numbers{.5}).loss), 0);
  EXPECT_NEAR((ClassReading{M::probability, Link::none, true, 1}(p).loss), -.8, 1e-12);
}

TEST(ClassReading, LinksTurnLogitsIntoProbabilities) {
  const Numbers z{1, 3, 2};
  const double sum = std::exp(1) + std::exp(3) + std::exp(2);
  const Reading softmax = ClassReading{M::log, Link::softmax, false, 2}(z);
  EXPECT_NEAR(softmax.loss, -std::log(std::exp(2) / sum), 1e-12);
  EXPECT_NEAR(softmax.logit, 2 - std::log(std::exp(1) + std::exp(3)), 1e-12);
  EXPECT_NEAR((ClassReading{M::log, Link::sigmoid, false, 0}(z).loss), std::log1p(std::exp(-1)), 1e-12);
  EXPECT_EQ((ClassReading{M::logit, Link::sigmoid, false, 1}(z).loss), -3);
  const double p0 = std::exp(1) / sum, p1 = std::exp(3) / sum, p2 = std::exp(2) / sum;
  EXPECT_NEAR((ClassReading{M::brier, Link::softmax, false, 1}(z).loss),
              p0 * p0 + (1 - p1) * (1 - p1) + p2 * p2, 1e-12);
  EXPECT_EQ((ClassReading{M::zero_one, Link::softmax, false, 1}(z).loss), 0);
  // A saturated probability keeps its log-odds.
  EXPECT_EQ((ClassReading{M::log, Link::sigmoid, false, 0}(Numbers{60, 0}).logit), 60);
}

TEST(ClassReading, RefusesWhatIsNoProbability) {
  const Numbers z{1.5, -3};
  EXPECT_THROW((ClassReading{M::log, Link::none, true, 0}(z)), Error);
  EXPECT_THROW((ClassReading{M::log, Link::none, false, 0}(z)), Error);
  EXPECT_EQ((ClassReading{M::probability, Link::none, false, 1}(z).loss), 3);
  EXPECT_THROW((ClassReading{M::logit, Link::sigmoid, false, 0}(Numbers{NAN})), Error);
}

TEST(ClassReading, NamesTheLargest) {
  EXPECT_EQ(named_class(Numbers{.2, .5, .5}, Link::none, true), 1U);
  EXPECT_EQ(named_class(Numbers{.5}, Link::none, true), 0U);
  EXPECT_EQ(named_class(Numbers{.4}, Link::sigmoid, false), 1U);
}

}  // namespace
}  // namespace hifi
