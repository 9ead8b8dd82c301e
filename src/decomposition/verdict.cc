#include "decomposition/verdict.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hifi {

namespace {

struct Ends {
  double low = -HUGE_VAL;
  double high = HUGE_VAL;
};

Ends ends(const Quantity& q, const VerdictOptions& options) {
  if (options.values_are_exact && q.value) return {*q.value, *q.value};
  return {q.low.value_or(-HUGE_VAL), q.high.value_or(HUGE_VAL)};
}

// Resolved: the interval does not straddle the level that matters.
void resolve(Quantity& q, double level) {
  q.resolved.reset();
  if (!q.value || (!q.low && !q.high)) return;
  const double low = q.low.value_or(-HUGE_VAL);
  const double high = q.high.value_or(HUGE_VAL);
  q.resolved = low > level || high < level || (low == level && high == level);
}

std::string verdict(const FeatureProfile& f, const VerdictOptions& options) {
  const double e = options.threshold;
  if (options.flat) return "negligible";
  if (!f.U.value && !f.Lmax.value) return "unresolved";
  const Ends most = ends(f.Lmax, options);
  const Ends last = ends(f.last, options);
  if (last.high < -e && most.high < e) return "harmful";
  if (most.high < e && last.low > -e && last.high < e) return "negligible";
  const auto found = candidates(f, options);
  return found.empty() ? "unresolved" : found.front();
}

}  // namespace

std::vector<const char*> candidates(const FeatureProfile& f, const VerdictOptions& options) {
  const double e = options.threshold;
  std::vector<std::pair<double, const char*>> found;
  // On partial coverage only an upper bound of U is known, so `unique` needs both ends to be seen.
  if (ends(f.U, options).low > e && f.pi.value && f.last.value) found.emplace_back(*f.U.value, "unique");
  if (f.R.value && ends(f.R, options).low > e && ends(f.pi, options).low > e)
    found.emplace_back(*f.R.value, "redundant");
  if (f.S.value && ends(f.S, options).low > e && ends(f.Lmax, options).low > e)
    found.emplace_back(*f.S.value, "synergistic");
  const double tie = 1e-6 * options.loss_scale;
  std::vector<const char*> order;
  while (!found.empty()) {
    double top = -HUGE_VAL;
    for (const auto& [value, name] : found) top = std::max(top, value);
    const auto first =
        std::find_if(found.begin(), found.end(), [&](const auto& c) { return c.first >= top - tie; });
    order.push_back(first->second);
    found.erase(first);
  }
  return order;
}

void judge(std::vector<FeatureProfile>& features, std::vector<PairProfile>& pairs,
           const VerdictOptions& options) {
  for (FeatureProfile& f : features) {
    f.verdict = verdict(f, options);
    if (f.U.value) f.hurts_in_context = ends(f.U, options).high < -options.threshold;
  }
  resolve(features, pairs, options.threshold);
}

void resolve(std::vector<FeatureProfile>& features, std::vector<PairProfile>& pairs, double threshold) {
  for (FeatureProfile& f : features) {
    for (Quantity* q : {&f.U, &f.pi, &f.last}) resolve(*q, 0);
    for (Quantity* q : {&f.R, &f.S, &f.Lmax}) resolve(*q, threshold);
  }
  for (PairProfile& p : pairs) {
    resolve(p.S, threshold);
    resolve(p.R, threshold);
  }
}

}  // namespace hifi
