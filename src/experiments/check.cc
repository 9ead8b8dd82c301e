#include "experiments/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/findings.h"
#include "report/text_table.h"

namespace hifi {

bool Check::pass() const {
  if (!std::isfinite(found) || !std::isfinite(expected)) return false;
  switch (relation) {
    case Relation::equal:
      return std::abs(found - expected) <= tolerance;
    case Relation::at_most:
      return found <= expected + tolerance;
    case Relation::at_least:
      return found >= expected - tolerance;
  }
  return false;
}

void Checks::equal(std::string name, double expected, double found, double tolerance) {
  list.push_back({theorem_, std::move(name), expected, found, tolerance, Relation::equal});
}
void Checks::at_most(std::string name, double expected, double found, double tolerance) {
  list.push_back({theorem_, std::move(name), expected, found, tolerance, Relation::at_most});
}
void Checks::at_least(std::string name, double expected, double found, double tolerance) {
  list.push_back({theorem_, std::move(name), expected, found, tolerance, Relation::at_least});
}

namespace {

const char* relation_name(Relation relation) {
  return relation == Relation::equal ? "equal" : relation == Relation::at_most ? "at most" : "at least";
}

}  // namespace

std::string checks_json(const std::vector<Check>& checks) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const Check& check : checks) {
    list.push_back({{"theorem", check.theorem},
                    {"name", check.name},
                    {"relation", relation_name(check.relation)},
                    {"expected", check.expected},
                    {"found", check.found},
                    {"tolerance", check.tolerance},
                    {"pass", check.pass()}});
  }
  return Json({{"schema", "hifi.verify/1"}, {"checks", list}}).dump(1) + "\n";
}

std::string checks_text(const std::vector<Check>& checks) {
  TextRows rows = {{"", "", "check", "theory", "found", "tolerance"}};
  for (const Check& check : checks) {
    const char* sign = check.relation == Relation::equal     ? ""
                       : check.relation == Relation::at_most ? "≤ "
                                                             : "≥ ";
    rows.push_back({check.pass() ? "pass" : "FAIL", check.theorem, check.name,
                    sign + short_number(check.expected, 4), short_number(check.found, 4),
                    check.tolerance == 0 ? "" : short_number(check.tolerance, 2)});
  }
  const auto passed = std::count_if(checks.begin(), checks.end(), [](const Check& c) { return c.pass(); });
  return aligned(rows, {true, true, true, false, false, false}) +
         fmt::format("\n  {} of {} checks hold\n", passed, checks.size());
}

}  // namespace hifi
