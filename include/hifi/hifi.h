// Start here: what the library promises.
//
//   hifi::Profile p = hifi::decompose({"a", "b"}, losses);   // losses[mask], bit i = player i
//
// Everything throws hifi::Error (hifi/error.h). Headers outside include/hifi may change at any time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hifi/coalition.h"
#include "hifi/error.h"
#include "hifi/indices.h"
#include "hifi/profile.h"

namespace hifi {

std::string version();

// The profile of a complete vocabulary of up to 24 players: the mean loss of every coalition.
// Throws Error(input) if losses.size() is not 2^players or a loss is not finite.
Profile decompose(const std::vector<std::string>& players, std::span<const double> losses);

// The profile as JSON text, schema hifi.profile/1.
std::string to_json(const Profile& profile);

// Interaction indices of the same vocabulary, by name (Moebius, SV, SII, BII, k-SII, STII, FSII, kADD-SHAP),
// all sets of up to `order` players. A loss enters as value v = -L. Throws as `decompose`; also Error(usage)
// for an unknown name and Error(input) for an order of 0 or above the number of players.
Indices indices(const std::vector<std::string>& players, std::span<const double> losses,
                const std::vector<std::string>& names, std::size_t order);

}  // namespace hifi
