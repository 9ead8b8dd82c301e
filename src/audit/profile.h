// From a finished vocabulary to the profile.
#pragma once

#include <string>

#include "audit/run_result.h"
#include "core/parallel.h"
#include "decomposition/scan.h"
#include "hifi/profile.h"
#include "vocabulary/loss_table.h"
#include "vocabulary/run_plan.h"

namespace hifi {

// `all`, `none`, `top:K` or `with:NAME`. Error(usage) if it is none of them, Error(input) if there is no such
// player.
PairSelection parse_pairs(const std::string& text, const std::vector<std::string>& players);

Profile make_profile(const RunPlan& plan, const RunResult& result, const std::string& pairs,
                     Workers& workers);

// Of a bare table, complete or not; its numbers are taken as they are.
Profile make_profile(const LossTable& table, const std::string& pairs, Workers& workers);

}  // namespace hifi
