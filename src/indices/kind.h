// The interaction indices by name.
#pragma once

#include <string>
#include <vector>

namespace hifi {

enum class IndexKind {
  moebius,
  shapley,              // SV
  shapley_interaction,  // SII
  banzhaf,              // BII
  k_shapley,            // k-SII, the aggregation of SII that is efficient
  shapley_taylor,       // STII
  faithful,             // FSII
  k_additive,           // kADD-SHAP
};

const std::vector<IndexKind>& all_indices();
// As people write it: Moebius, SV, SII, BII, k-SII, STII, FSII, kADD-SHAP.
std::string index_name(IndexKind kind);
// Upper or lower case. Throws Error(usage) that lists the names.
IndexKind parse_index(const std::string& name);

}  // namespace hifi
