// The theorems of the paper as executable checks. Where the paper is loose, the sound reading is checked:
// ARCHITECTURE.md names the differences.
#pragma once

#include <string>
#include <vector>

#include "core/parallel.h"
#include "experiments/check.h"
#include "experiments/machinery.h"

namespace hifi {

// T1: what each index and U, R, S say about XOR of three inputs, at every order and instance.
std::vector<Check> verify_conflation(const Machinery& machinery);
// T2: the mean of K losses: bias, mean squared error, tails.
std::vector<Check> verify_monte_carlo();
// T3: variance of the mixed difference with and without common draws.
std::vector<Check> verify_diamonds(const Machinery& machinery, Workers& workers);
// T4: uniform error over a vocabulary, recovery of the contexts of U and Lmax.
std::vector<Check> verify_vocabulary(const Machinery& machinery);
// P: how far an error of the losses moves U, Lmax, pi (2), R, S and pairs (4).
std::vector<Check> verify_propagation(const Machinery& machinery);

// By name, in this order whatever the order of the names; all if there are none. Throws Error(usage) for an
// unknown name.
std::vector<Check> verify(const std::vector<std::string>& names, const Machinery& machinery,
                          Workers& workers);

}  // namespace hifi
