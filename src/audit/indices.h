// From a finished vocabulary to the indices, with intervals where the vocabulary knows its noise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "audit/run_result.h"
#include "core/parallel.h"
#include "hifi/indices.h"
#include "indices/kind.h"
#include "vocabulary/loss_table.h"
#include "vocabulary/run_plan.h"

namespace hifi {

struct IndicesRequest {
  std::vector<IndexKind> kinds;
  std::size_t order = 2;
  std::uint64_t max_memory = std::uint64_t{4} << 30;  // of the answer
};

// All throw Error(input): more players asked for than there are, more values than fit into max_memory, a
// coalition that the vocabulary lacks; `path` is named then.
Indices make_indices(const RunPlan& plan, const RunResult& result, const std::string& path,
                     const IndicesRequest& request, Workers& workers);
Indices make_indices(const LossTable& table, const std::string& path, const IndicesRequest& request,
                     Workers& workers);

// The smallest coalition that is not in the list. REQUIRES: one is missing
Coalition first_missing(std::size_t players, const std::vector<Coalition>& coalitions);

}  // namespace hifi
