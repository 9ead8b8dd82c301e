#include "report/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace hifi {

namespace {

constexpr std::size_t kMaxSentences = 12;

std::string list(const std::vector<std::string>& names) {
  if (names.size() == 1) return names[0];
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

std::vector<std::string> names(const Profile& profile, const std::vector<std::uint32_t>& positions) {
  std::vector<std::string> result;
  for (const std::uint32_t p : positions) result.push_back(profile.players[p]);
  return result;
}

// A sentence with its weight, so that the largest come first.
using Weighted = std::pair<double, std::string>;

std::string about(const Profile& profile, std::size_t i, double floor) {
  const FeatureProfile& f = profile.features[i];
  const std::string& name = profile.players[i];
  const double u = f.U.value.value_or(0);
  const double r = f.R.value.value_or(0);
  const double s = f.S.value.value_or(0);
  if (u >= r && u >= s)
    return fmt::format("{} is needed for itself: it brings at least {:.3g} whatever else is known.", name, u);
  if (r > s) {
    const auto context = names(profile, f.R.context.value_or(std::vector<std::uint32_t>{}));
    const std::string given =
        context.empty() ? "in its worst context"
                        : fmt::format("once {} {} known", list(context), context.size() == 1 ? "is" : "are");
    if (u < -floor)
      return fmt::format("{} is replaceable: alone it brings {:.3g}, {} it costs {:.3g}.", name, *f.pi.value,
                         given, -u);
    return fmt::format("{} is replaceable: alone it brings {:.3g}, {} only {:.3g}.", name, *f.pi.value, given,
                       std::abs(u) < floor ? 0.0 : u);
  }
  const auto context = names(profile, f.S.context.value_or(std::vector<std::uint32_t>{}));
  return fmt::format("{} works in company: alone it brings {:.3g}, together with {} {:.3g}.", name,
                     *f.pi.value, list(context), *f.Lmax.value);
}

}  // namespace

std::vector<std::string> findings(const Profile& profile) {
  const double floor = profile.coverage.threshold.value_or(0);
  std::vector<Weighted> weighted;
  std::vector<std::string> idle;
  std::vector<std::string> harmful;
  for (std::size_t i = 0; i < profile.features.size(); ++i) {
    const FeatureProfile& f = profile.features[i];
    if (!f.pi.value || !f.U.value) continue;
    const double most = f.Lmax.value.value_or(0);
    if (most <= floor && f.last.value && *f.last.value < -floor) {
      harmful.push_back(profile.players[i]);
    } else if (most <= floor && *f.U.value >= -floor) {
      idle.push_back(profile.players[i]);
    } else if (most > floor) {
      weighted.emplace_back(most, about(profile, i, floor));
    }
  }
  std::stable_sort(weighted.begin(), weighted.end(),
                   [](const Weighted& a, const Weighted& b) { return a.first > b.first; });
  std::vector<std::string> sentences;
  for (std::size_t k = 0; k < std::min(weighted.size(), kMaxSentences); ++k)
    sentences.push_back(weighted[k].second);
  if (!harmful.empty())
    sentences.push_back(fmt::format("{} {} the model: no context gains from {}.", list(harmful),
                                    harmful.size() == 1 ? "hurts" : "hurt",
                                    harmful.size() == 1 ? "it" : "them"));
  if (!idle.empty())
    sentences.push_back(fmt::format("{} {} in no context (below 1 % of the loss range).", list(idle),
                                    idle.size() == 1 ? "matters" : "matter"));
  return sentences;
}

}  // namespace hifi
