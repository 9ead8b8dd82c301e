// The figures that the paper prints for E1, as they are there: its tables of conflation ratios and of
// recovery, and the drifts of its section on backgrounds.
#pragma once

#include <array>
#include <optional>

namespace hifi::e1_paper {

// By index: STII, FSII, SII, k-SII, kADD-SHAP.
inline constexpr std::array<double, 5> kRatioXor3 = {319.51, 411.88, 411.14, 411.14, 411.88};
inline constexpr std::array<double, 5> kRatioXorAnd = {102.55, 110.68, 110.66, 110.66, 110.68};
inline constexpr double kWilcoxon = 9.31e-10;  // of all five, on both models
inline constexpr double kXor3TestError = 2.7e-3;

struct Recovery {
  double pearson, pearson_sd, spearman, spearman_sd;
};
// By channel: U, R, S, S of pairs, R of pairs.
inline constexpr std::array<Recovery, 5> kRecovery = {{{.978, .022, .577, .000},
                                                       {.185, .464, .252, .422},
                                                       {.846, .125, .800, .090},
                                                       {.912, .058, .548, .116},
                                                       {.261, .109, .269, .057}}};
// By channel: U, R, S. Absolute, pooled over the models and on Synth3 alone; relative, the median.
inline constexpr std::array<double, 3> kDriftPooled = {.023, .098, .105};
inline constexpr std::array<double, 3> kDriftSynth3 = {.026, .184, .190};
inline constexpr std::array<std::optional<double>, 3> kDriftRelative = {std::nullopt, .098, .054};

}  // namespace hifi::e1_paper
