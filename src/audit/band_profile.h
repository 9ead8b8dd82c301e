// Conservative bands by name (--interval hoeffding, bernstein, paper) for the profile of a lattice.
#pragma once

#include <vector>

#include "core/parallel.h"
#include "decomposition/scan.h"
#include "hifi/profile.h"
#include "vocabulary/lattice.h"
#include "vocabulary/run_plan.h"

namespace hifi {

// Throws Error(input) if the plan names a band that its loss or its policy does not allow.
void check_band(const RunPlan& plan);

// Puts the ends of the band that the plan names into the scan, and what it takes for granted into the
// warnings. Returns false if the plan names none.
bool apply_band(const RunPlan& plan, const Lattice& lattice, const std::vector<double>& losses,
                ScanResult& scan, Profile& profile, Workers& workers);

}  // namespace hifi
