#include "indices/kind.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "hifi/error.h"

namespace hifi {

const std::vector<IndexKind>& all_indices() {
  using enum IndexKind;
  static const std::vector<IndexKind> kAll = {
      moebius, shapley, shapley_interaction, banzhaf, k_shapley, shapley_taylor, faithful, k_additive};
  return kAll;
}

std::string index_name(IndexKind kind) {
  switch (kind) {
    case IndexKind::moebius:
      return "Moebius";
    case IndexKind::shapley:
      return "SV";
    case IndexKind::shapley_interaction:
      return "SII";
    case IndexKind::banzhaf:
      return "BII";
    case IndexKind::k_shapley:
      return "k-SII";
    case IndexKind::shapley_taylor:
      return "STII";
    case IndexKind::faithful:
      return "FSII";
    case IndexKind::k_additive:
      return "kADD-SHAP";
  }
  throw Error(ErrorCode::bug, "an index without a name");
}

IndexKind parse_index(const std::string& name) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  std::vector<std::string> names;
  for (const IndexKind kind : all_indices()) {
    names.push_back(index_name(kind));
    if (std::equal(name.begin(), name.end(), names.back().begin(), names.back().end(), same)) return kind;
  }
  throw Error(ErrorCode::usage, fmt::format("\"{}\" is no index", name),
              fmt::format("the indices are {}", fmt::join(names, ", ")));
}

}  // namespace hifi
