// What an index gives to each coalition.
//
// With a the Moebius transform of the value v, every index here is
//
//   phi(S) = sum over T >= S of c(|S|, |T|) a(T),
//
// so that, written in v itself, a coalition W counts by the size of its union with S alone:
//
//   phi(S) = sum over W of (-1)^|W| h(|S|, |S u W|) v(W),
//   h(s, u) = sum over t of (-1)^t C(n-u, t-u) c(s, t).
//
// The second form is the one to compute: no large terms cancel in it. h is found in exact rational
// arithmetic and rounded once.
//
// Sources: Grabisch and Roubens 1999 (SII, BII; doi 10.1007/s001820050125), Bordt and von Luxburg 2023
// (k-SII; arXiv 2209.04012), Sundararajan, Dhamdhere and Agarwal 2020 (STII; arXiv 1902.05622), Tsai, Yeh and
// Ravikumar 2023 (FSII; arXiv 2203.00870: the closed form of the least squares that must meet v at {} and at
// the full set), Pelegrina, Duarte and Grabisch 2023 (kADD-SHAP: the SII of the same k-additive fit; arXiv
// 2211.02166).
#pragma once

#include <cstddef>
#include <vector>

#include "indices/kind.h"

namespace hifi {

struct IndexWeights {
  std::size_t players = 0;
  std::size_t order = 0;
  std::vector<std::vector<double>> by_size;  // h(s, u) at [s][u], 1 <= s <= order, s <= u <= players

  // Sum of all |h|: |phi(S)| moves by at most half of it times the range of v. REQUIRES: 1 <= size <= order
  double absolute_sum(std::size_t size) const;
};

// The Shapley value has order 1 whatever is asked. REQUIRES: 1 <= order <= players <= 62
IndexWeights index_weights(IndexKind kind, std::size_t players, std::size_t order);

// c(s, t) at [s][t] as doubles, for checks against closed forms. REQUIRES: as above
std::vector<std::vector<double>> moebius_coefficients(IndexKind kind, std::size_t players, std::size_t order);

}  // namespace hifi
