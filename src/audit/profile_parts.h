// What the profiles of all kinds of runs share.
#pragma once

#include <span>

#include "decomposition/inference.h"
#include "decomposition/scan.h"
#include "decomposition/verdict.h"
#include "hifi/profile.h"
#include "sampling/paper_run.h"
#include "sampling/per_instance.h"
#include "sampling/searched.h"
#include "vocabulary/run_plan.h"

namespace hifi {

// Everything but features and pairs.
Profile start_profile(const RunPlan& plan);
// What the verdicts are measured against; sets the coverage of the losses seen.
VerdictOptions measure(Profile& profile, std::span<const double> losses);
InferenceOptions inference_options(const RunPlan& plan);
void warn_without_interval(Profile& profile, const RunPlan& plan);

// Before the far ends of a partial coverage are opened.
double widest_interval(std::span<const FeatureProfile> features);

// Of more than 10,000 pairs only those that were seen are listed.
void drop_unseen_pairs(Profile& profile);

// Contexts that were not seen can move one end of every extremum.
void open_far_ends(Profile& profile);

Profile searched_profile(const RunPlan& plan, const SearchedRun& run, const ScanOptions& options,
                         Workers& workers);

// Of the instances on the first of the coalitions.
void add_searched_instances(Profile& profile, const RunPlan& plan, std::span<const Coalition> coalitions,
                            const std::vector<InstanceCells>& instances, const ScanOptions& options,
                            Workers& workers);

Profile paper_profile(const RunPlan& plan, const PaperResult& run, const ScanOptions& options,
                      Workers& workers);

}  // namespace hifi
