#include "report/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "data/text_column.h"
#include "report/words.h"

namespace hifi {

namespace {

constexpr std::size_t kMaxSentences = 12;
constexpr std::size_t kMaxNames = 12;

// Names may come from a stranger's file.
std::string shown(const Profile& profile, std::size_t player) {
  return one_line(profile.players[player], 60);
}

// REQUIRES: names is not empty
std::string list(const std::vector<std::string>& names) {
  if (names.size() == 1) return names[0];
  if (names.size() > kMaxNames + 1) {
    return fmt::format("{} and {} others", fmt::join(names.begin(), names.begin() + kMaxNames, ", "),
                       names.size() - kMaxNames);
  }
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

std::vector<std::string> names(const Profile& profile, const std::vector<std::uint32_t>& positions) {
  std::vector<std::string> result;
  for (const std::uint32_t p : positions) result.push_back(shown(profile, p));
  return result;
}

std::string verb(const std::vector<std::string>& subjects, const char* one, const char* many) {
  return subjects.size() == 1 ? one : many;
}

// "0.57 on these rows; population 0.21 to 0.82", or the number alone.
std::string told(const Quantity& q, const Profile& profile) {
  std::string value = short_number(*q.value, 3);
  if (profile.coverage.interval != "population" || q.low == q.high) return value;
  value += fmt::format(" on these {}; population", words_of(profile.provenance).rows);
  const auto end = [](const std::optional<double>& x) { return short_number(*x, 2); };
  if (!q.high) return fmt::format("{} at least {}", value, end(q.low));
  if (!q.low) return fmt::format("{} at most {}", value, end(q.high));
  return fmt::format("{} {} to {}", value, end(q.low), end(q.high));
}

std::string given(const Profile& profile, const Quantity& q) {
  const auto context = names(profile, q.context.value_or(std::vector<std::uint32_t>{}));
  return context.empty() ? "in its worst context"
                         : fmt::format("once {} {} {}", list(context), verb(context, "is", "are"),
                                       words_of(profile.provenance).known);
}

std::string about(const Profile& profile, std::size_t i, double floor) {
  const FeatureProfile& f = profile.features[i];
  const std::string name = shown(profile, i);
  if (f.verdict == "unique") {
    return fmt::format("{} is needed for itself: {}, it brings at least {}.", name,
                       f.basis == "searched"
                           ? "in every context seen"
                           : fmt::format("whatever else is {}", words_of(profile.provenance).known),
                       told(f.U, profile));
  }
  if (f.verdict == "redundant") {
    const double u = *f.U.value;
    const std::string rest = u < -floor ? "it costs " + short_number(-u, 3)
                                        : "only " + short_number(std::abs(u) < floor ? 0.0 : u, 3);
    return fmt::format("{} is replaceable: alone it brings {}, {} {} (redundant {}).", name,
                       short_number(*f.pi.value, 3), given(profile, f.R), rest, told(f.R, profile));
  }
  const auto context = names(profile, f.S.context.value_or(std::vector<std::uint32_t>{}));
  return fmt::format("{} works in company: alone it brings {}, together with {} it brings {} (synergy {}).",
                     name, short_number(*f.pi.value, 3), context.empty() ? "others" : list(context),
                     short_number(*f.Lmax.value, 3), told(f.S, profile));
}

// How many times as many observations would settle the easiest open question about a player. Errors shrink
// with the square root.
std::optional<double> effort(const FeatureProfile& f, double floor) {
  std::optional<double> least;
  const auto consider = [&](double reach, double distance) {
    if (!(distance > 0) || !(reach > 0)) return;
    const double factor = std::pow(reach / distance, 2);
    if (!least || factor < *least) least = factor;
  };
  for (const Quantity* q : {&f.U, &f.R, &f.S}) {
    if (q->value && q->low) consider(*q->value - *q->low, *q->value - floor);
  }
  if (f.Lmax.value && f.Lmax.high) consider(*f.Lmax.high - *f.Lmax.value, floor - *f.Lmax.value);
  return least;
}

std::string unresolved(const Profile& profile, const std::vector<std::size_t>& players, double floor) {
  std::vector<std::string> parts;
  for (const std::size_t i : players) {
    const auto factor = effort(profile.features[i], floor);
    parts.push_back(factor && *factor < 1000 ? fmt::format("{} (about {:.2g} times as many)",
                                                           shown(profile, i), std::max(1.1, *factor))
                                             : shown(profile, i));
  }
  const char* what = !profile.coverage.exhaustive                ? "draws and contexts (--budget)"
                     : profile.coverage.interval == "population" ? words_of(profile.provenance).rows
                                                                 : "draws";
  return fmt::format("Not resolved: {}. More {} would tell; the estimate is in brackets.", list(parts), what);
}

}  // namespace

std::string short_number(double value, int digits) {
  if (std::abs(value) < 1e-12) value = 0;
  std::string text = fmt::format("{:.{}g}", value, digits);
  if (std::abs(value) < 1e9 && text.find("e+") != std::string::npos)
    text = fmt::format("{:.0f}", std::stod(text));
  return text;
}

std::vector<std::string> findings(const Profile& profile) {
  const double floor = profile.coverage.threshold.value_or(0);
  std::vector<std::pair<double, std::string>> weighted;  // the largest come first
  std::vector<std::string> idle;
  std::vector<std::string> harmful;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < profile.features.size(); ++i) {
    const FeatureProfile& f = profile.features[i];
    if (f.verdict == "negligible") idle.push_back(shown(profile, i));
    if (f.verdict == "harmful") harmful.push_back(shown(profile, i));
    if (f.verdict == "unresolved") open.push_back(i);
    if (f.verdict == "unique" || f.verdict == "redundant" || f.verdict == "synergistic") {
      weighted.emplace_back(f.Lmax.value.value_or(0), about(profile, i, floor));
    }
  }
  std::stable_sort(weighted.begin(), weighted.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> sentences;
  for (std::size_t k = 0; k < std::min(weighted.size(), kMaxSentences); ++k)
    sentences.push_back(weighted[k].second);
  if (!harmful.empty()) {
    sentences.push_back(fmt::format("{} {} the model: no context gains from {}.", list(harmful),
                                    verb(harmful, "hurts", "hurt"), verb(harmful, "it", "them")));
  }
  if (!idle.empty()) {
    sentences.push_back(fmt::format("{} {} in no context{} (below 1 % of the range of losses).", list(idle),
                                    verb(idle, "matters", "matter"),
                                    profile.coverage.exhaustive ? "" : " seen"));
  }
  if (!open.empty()) sentences.push_back(unresolved(profile, open, floor));
  return sentences;
}

}  // namespace hifi
