#include "report/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "data/text_column.h"
#include "report/findings.h"
#include "report/text_table.h"
#include "report/words.h"

namespace hifi {

namespace {

constexpr std::size_t kBarWidth = 24;

struct Paint {
  bool on;
  std::string operator()(const char* code, const std::string& text) const {
    return on && !text.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
};
constexpr const char* kUnique = "32";
constexpr const char* kRedundant = "33";
constexpr const char* kSynergistic = "35";
constexpr const char* kFaint = "2";

std::string number(const std::optional<double>& value) {
  if (!value) return "-";
  return short_number(*value, 4);
}

std::string repeat(const char* glyph, std::size_t count) {
  std::string text;
  for (std::size_t k = 0; k < count; ++k) text += glyph;
  return text;
}

// U, R and S end to end; a negative U takes no space (the number shows it).
std::string bar(const FeatureProfile& f, double scale, const Paint& paint) {
  const double u = std::max(0.0, f.U.value.value_or(0));
  const double r = std::max(0.0, f.pi.value.value_or(0) - u);
  const double s = f.S.value.value_or(0);
  const auto cells = [&](double upto) {
    return static_cast<std::size_t>(std::lround(std::clamp(upto / scale, 0.0, 1.0) * kBarWidth));
  };
  const std::size_t a = cells(u);
  const std::size_t b = cells(u + r);
  const std::size_t c = cells(u + r + s);
  return paint(kUnique, repeat("█", a)) + paint(kRedundant, repeat("▓", b - a)) +
         paint(kSynergistic, repeat("░", c - b)) + std::string(kBarWidth - c, ' ');
}

std::vector<std::size_t> by_worth(const Profile& profile) {
  std::vector<std::size_t> order(profile.features.size());
  std::iota(order.begin(), order.end(), 0);
  const auto worth = [&](std::size_t i) { return profile.features[i].Lmax.value.value_or(-HUGE_VAL); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return worth(a) > worth(b); });
  return order;
}

// "0.57 [0.21, 0.82]"; an end that nothing is known about is a dot; no brackets around an exact number.
std::string with_interval(const Quantity& q) {
  if (!q.value || (!q.low && !q.high) || (q.low == q.high)) return number(q.value);
  const auto end = [](const std::optional<double>& x) { return x ? short_number(*x, 2) : "·"; };
  return fmt::format("{} [{}, {}]", short_number(*q.value, 3), end(q.low), end(q.high));
}

std::string players_table(const Profile& profile, const TerminalOptions& options, const Paint& paint) {
  double scale = 0;
  for (const auto& f : profile.features) scale = std::max(scale, f.Lmax.value.value_or(0));
  if (scale <= 0) scale = 1;
  TextRows rows = {{"player", "verdict", "unique", "redundant", "synergy", "", "alone", "last"}};
  auto order = by_worth(profile);
  const std::size_t all = order.size();
  // Where not all fit, those without effect are not worth a line each.
  if (all > options.max_players) {
    std::erase_if(order, [&](std::size_t i) { return profile.features[i].verdict == "negligible"; });
  }
  for (std::size_t k = 0; k < std::min(order.size(), options.max_players); ++k) {
    const FeatureProfile& f = profile.features[order[k]];
    rows.push_back({short_name(profile.players[order[k]]), f.verdict.value_or("-"), with_interval(f.U),
                    with_interval(f.R), with_interval(f.S), bar(f, scale, paint), number(f.pi.value),
                    number(f.last.value)});
  }
  std::string text = aligned(rows, {true, true, false, false, false, true, false, false});
  const std::size_t hidden = all - (rows.size() - 1);
  if (hidden > 0) text += paint(kFaint, fmt::format("  .. and {} more; --json or --csv has all\n", hidden));
  text +=
      fmt::format("  {}\n", paint(kFaint,
                                  "█ unique: worth it in every context  ▓ redundant: others can replace it  "
                                  "░ synergy: needs company"));
  return text;
}

std::string pairs_table(const Profile& profile, const TerminalOptions& options, const Paint& paint) {
  std::vector<const PairProfile*> order;
  const auto size = [](const PairProfile& p) {
    return std::max(p.S.value.value_or(0), p.R.value.value_or(0));
  };
  const double floor = profile.coverage.threshold.value_or(0);
  for (const auto& p : profile.pairs) {
    if (size(p) > floor) order.push_back(&p);
  }
  if (order.empty()) return "";
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto* a, const auto* b) { return size(*a) > size(*b); });
  const auto name = [&](const PairProfile& p) {
    return fmt::format("{} + {}", short_name(profile.players[p.first]),
                       short_name(profile.players[p.second]));
  };
  const std::size_t shown = std::min(order.size(), options.max_pairs);
  TextRows rows = {{"pair", "redundant", "synergy"}};
  for (std::size_t k = 0; k < shown; ++k)
    rows.push_back({name(*order[k]), with_interval(order[k]->R), with_interval(order[k]->S)});
  std::string text = "\n" + aligned(rows, {true, false, false});
  if (order.size() > shown) {
    text +=
        paint(kFaint, fmt::format("  .. and {} more above 1 % of the loss range\n", order.size() - shown));
  }
  return text;
}

std::string coverage_line(const Profile& profile) {
  const Coverage& c = profile.coverage;
  std::string text = c.exhaustive
                         ? fmt::format("all {} coalitions", c.coalitions)
                         : fmt::format("{} of 2^{} coalitions (U is an upper, synergy a lower bound)",
                                       c.coalitions, profile.players.size());
  if (c.draws)
    text += fmt::format(
        ", {} draw{} each{}", *c.draws, *c.draws == 1 ? "" : "s",
        c.exact.value_or(false) ? fmt::format(" = every {}: exact", words_of(profile.provenance).all) : "");
  return text;
}

std::string interval_line(const Profile& profile) {
  const Coverage& c = profile.coverage;
  const bool shown = std::any_of(profile.features.begin(), profile.features.end(),
                                 [](const FeatureProfile& f) { return f.pi.low && f.pi.low != f.pi.high; });
  if (!c.interval || !shown) return "";
  if (*c.interval != "population" && *c.interval != "montecarlo")
    return fmt::format("[..] {:.3g} % bands by name: {}\n", 100 * c.confidence, *c.interval);
  const char* rows = words_of(profile.provenance).rows;
  return fmt::format(
      "[..] {:.3g} % intervals {}\n", 100 * c.confidence,
      *c.interval == "population"
          ? fmt::format("for the population that the {} come from; the number before is for these {}", rows,
                        rows)
          : fmt::format("of the sampling error on these {}", rows));
}

}  // namespace

std::string profile_text(const Profile& profile, const TerminalOptions& options) {
  const Paint paint{options.colour};
  std::string text =
      fmt::format("{}, {} players, {}\n\n",
                  profile.measure == "prediction" ? "prediction (gain = increase of the output)"
                  : profile.loss.empty()          ? "loss from a table"
                                                  : profile.loss + " loss",
                  profile.players.size(), coverage_line(profile));
  text.pop_back();
  text += interval_line(profile) + "\n";
  text += players_table(profile, options, paint);
  text += pairs_table(profile, options, paint);
  text += "\n";
  for (const std::string& sentence : findings(profile)) text += fmt::format("  • {}\n", sentence);
  for (const Warning& w : profile.warnings) text += fmt::format("  ! {}\n", one_line(w.message, 400));
  return text;
}

}  // namespace hifi
