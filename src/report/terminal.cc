#include "report/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "report/findings.h"

namespace hifi {

namespace {

constexpr std::size_t kBarWidth = 24;
constexpr std::size_t kNameWidth = 22;

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

// Columns on the screen, not bytes: continuation bytes of UTF-8 do not count.
std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width) {
  const std::size_t have = display_width(text);
  return have >= width ? text : text + std::string(width - have, ' ');
}

std::string short_name(const std::string& name) {
  if (display_width(name) <= kNameWidth) return name;
  std::string cut;
  std::size_t columns = 0;
  for (const char c : name) {
    if ((c & 0xC0) != 0x80 && ++columns >= kNameWidth) break;
    cut += c;
  }
  return cut + "…";
}

std::string number(const std::optional<double>& value) {
  if (!value) return "-";
  return fmt::format("{:.4g}", std::abs(*value) < 1e-12 ? 0.0 : *value);
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

std::string players_table(const Profile& profile, const TerminalOptions& options, const Paint& paint) {
  double scale = 0;
  for (const auto& f : profile.features) scale = std::max(scale, f.Lmax.value.value_or(0));
  if (scale <= 0) scale = 1;
  std::size_t wide = 6;
  for (const auto& name : profile.players) wide = std::max(wide, display_width(short_name(name)));
  std::string text = fmt::format("  {} {:>10} {:>10} {:>10}  {} {:>10} {:>10}\n", padded("player", wide),
                                 "unique", "redundant", "synergy", padded("", kBarWidth), "alone", "last");
  const auto order = by_worth(profile);
  for (std::size_t k = 0; k < std::min(order.size(), options.max_players); ++k) {
    const FeatureProfile& f = profile.features[order[k]];
    text +=
        fmt::format("  {} {:>10} {:>10} {:>10}  {} {:>10} {:>10}\n",
                    padded(short_name(profile.players[order[k]]), wide), number(f.U.value), number(f.R.value),
                    number(f.S.value), bar(f, scale, paint), number(f.pi.value), number(f.last.value));
  }
  if (order.size() > options.max_players) {
    text += paint(kFaint, fmt::format("  .. and {} more; --json or --csv has all\n",
                                      order.size() - options.max_players));
  }
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
  std::size_t wide = 4;
  for (std::size_t k = 0; k < shown; ++k) wide = std::max(wide, display_width(name(*order[k])));
  std::string text = fmt::format("\n  {} {:>10} {:>10}\n", padded("pair", wide), "redundant", "synergy");
  for (std::size_t k = 0; k < shown; ++k) {
    text += fmt::format("  {} {:>10} {:>10}\n", padded(name(*order[k]), wide), number(order[k]->R.value),
                        number(order[k]->S.value));
  }
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
    text += fmt::format(", {} draws each{}", *c.draws,
                        c.exact.value_or(false) ? " = every pair of rows: exact" : "");
  return text;
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
  text += players_table(profile, options, paint);
  text += pairs_table(profile, options, paint);
  text += "\n";
  for (const std::string& sentence : findings(profile)) text += fmt::format("  • {}\n", sentence);
  for (const Warning& w : profile.warnings) text += fmt::format("  ! {}\n", w.message);
  return text;
}

}  // namespace hifi
