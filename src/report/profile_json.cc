#include "report/profile_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "report/csv.h"

namespace hifi {

namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// -0.0 is 0 for a reader.
Json number(const std::optional<double>& value) { return value ? Json(*value + 0.0) : Json(nullptr); }

Json names(const Profile& profile, const std::vector<std::uint32_t>& positions) {
  Json list = Json::array();
  for (const std::uint32_t p : positions) list.push_back(profile.players[p]);
  return list;
}

Json quantity(const Profile& profile, const Quantity& q) {
  return {{"value", number(q.value)},
          {"plugin", number(q.plugin)},
          {"low", number(q.low)},
          {"high", number(q.high)},
          {"population", number(q.population)},
          {"context", q.context ? names(profile, *q.context) : Json(nullptr)},
          {"resolved", optional(q.resolved)}};
}

// A count that a double can hold is a number, a larger one a decimal string.
Json count_of(std::size_t exponent) {
  if (exponent <= 53) return std::uint64_t{1} << exponent;
  // Asked for every player or pair in turn.
  thread_local std::pair<std::size_t, std::string> last;
  if (last.first != exponent) last = {exponent, power_of_two(exponent)};
  return last.second;
}

Json feature(const Profile& profile, std::size_t i) {
  const FeatureProfile& f = profile.features[i];
  const auto q = [&](const Quantity& x) { return quantity(profile, x); };
  const auto part = [&](double GainQuantiles::*field) {
    return f.gain ? Json((*f.gain).*field + 0.0) : Json(nullptr);
  };
  Json result = {{"player", profile.players[i]},
                 {"U", q(f.U)},
                 {"R", q(f.R)},
                 {"S", q(f.S)},
                 {"pi", q(f.pi)},
                 {"Lmax", q(f.Lmax)},
                 {"last", q(f.last)},
                 {"gain",
                  {{"q05", part(&GainQuantiles::q05)},
                   {"q50", part(&GainQuantiles::q50)},
                   {"q95", part(&GainQuantiles::q95)}}},
                 {"contexts", {{"seen", f.contexts_seen}, {"of", count_of(profile.players.size() - 1)}}},
                 {"verdict", optional(f.verdict)},
                 {"basis", f.basis},
                 {"hurts_in_context", optional(f.hurts_in_context)}};
  if (f.search) {
    result["search"] = {{"quiet_tests", f.search->quiet_tests},
                        {"block", names(profile, f.search->block)},
                        {"block_enumerated", f.search->block_enumerated}};
  }
  return result;
}

Json pair(const Profile& profile, const PairProfile& p) {
  return {{"players", names(profile, {p.first, p.second})},
          {"S", quantity(profile, p.S)},
          {"R", quantity(profile, p.R)},
          {"contexts", {{"seen", p.contexts_seen}, {"of", count_of(profile.players.size() - 2)}}}};
}

Json coverage(const Profile& profile) {
  const Coverage& c = profile.coverage;
  return {{"coalitions", c.coalitions}, {"of", count_of(profile.players.size())},
          {"exhaustive", c.exhaustive}, {"draws", optional(c.draws)},
          {"exact", optional(c.exact)}, {"interval", optional(c.interval)},
          {"confidence", c.confidence}, {"threshold", number(c.threshold)}};
}

Json one(const Profile& profile, const InstanceProfile& instance) {
  const Profile alone{.players = profile.players, .features = instance.features};
  Json result = instance.image.empty() ? Json{{"row", instance.row}} : Json{{"image", instance.image}};
  result.update(Json::parse(instance.details));
  result["features"] = Json::array();
  result["pairs"] = Json::array();
  for (std::size_t i = 0; i < instance.features.size(); ++i) result["features"].push_back(feature(alone, i));
  for (const PairProfile& p : instance.pairs) result["pairs"].push_back(pair(alone, p));
  return result;
}

std::string csv_field(const Json& value) {
  if (value.is_null()) return "";
  std::string text;
  if (value.is_array()) {
    for (const Json& item : value) text += (text.empty() ? "" : ";") + item.get<std::string>();
  } else {
    text = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return csv_quoted(text);
}

// The columns of one row: names in `header`, values in `row`.
void flatten(const Json& object, const std::string& prefix, std::vector<std::string>& header,
             std::vector<std::string>& row) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      flatten(value, prefix + key + ".", header, row);
      continue;
    }
    header.push_back(prefix + key);
    row.push_back(csv_field(value));
  }
}

std::string joined(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) line += (&field == fields.data() ? "" : ",") + field;
  return line + "\n";
}

void add_row(const Json& object, std::string& table) {
  std::vector<std::string> header;
  std::vector<std::string> row;
  flatten(object, "", header, row);
  if (table.empty()) table = joined(header);
  table += joined(row);
}

}  // namespace

std::string power_of_two(std::size_t exponent) {
  std::string digits = "1";  // lowest first
  for (std::size_t e = 0; e < exponent; ++e) {
    int carry = 0;
    for (char& digit : digits) {
      const int doubled = 2 * (digit - '0') + carry;
      digit = static_cast<char>('0' + doubled % 10);
      carry = doubled / 10;
    }
    if (carry > 0) digits += '1';
  }
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string profile_json(const Profile& profile) {
  Json features = Json::array();
  for (std::size_t i = 0; i < profile.features.size(); ++i) features.push_back(feature(profile, i));
  Json pairs = Json::array();
  for (const PairProfile& p : profile.pairs) pairs.push_back(pair(profile, p));
  Json warnings = Json::array();
  for (const Warning& w : profile.warnings) warnings.push_back({{"code", w.code}, {"message", w.message}});
  Json result = {{"schema", "hifi.profile/1"},
                 {"players", profile.players},
                 {"loss", profile.loss.empty() ? Json(nullptr) : Json(profile.loss)},
                 {"measure", profile.measure},
                 {"expected", profile.expected},
                 {"coverage", coverage(profile)},
                 {"features", features},
                 {"pairs", pairs},
                 {"warnings", warnings},
                 {"provenance", Json::parse(profile.provenance)}};
  for (const InstanceProfile& instance : profile.instances)
    result["instances"].push_back(one(profile, instance));
  return result.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

ProfileCsv profile_csv(const Profile& profile) {
  ProfileCsv csv;
  for (std::size_t i = 0; i < profile.features.size(); ++i) add_row(feature(profile, i), csv.features);
  for (const PairProfile& p : profile.pairs) add_row(pair(profile, p), csv.pairs);
  if (csv.pairs.empty()) {  // no pairs: the header alone
    const std::vector<std::string> names(2, "");
    add_row(pair({.players = names}, {.first = 0, .second = 1}), csv.pairs);
    csv.pairs.resize(csv.pairs.find('\n') + 1);
  }
  return csv;
}

}  // namespace hifi
