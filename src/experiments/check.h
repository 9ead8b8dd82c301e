// A statement of the theory and what was found when it was tried.
#pragma once

#include <string>
#include <vector>

namespace hifi {

enum class Relation { equal, at_most, at_least };

struct Check {
  std::string theorem;  // T1 .. T4, or P for the proposition
  std::string name;
  double expected = 0;
  double found = 0;
  double tolerance = 0;
  Relation relation = Relation::equal;

  bool pass() const;  // never for a number that is not finite
};

// Collects the checks of one theorem.
class Checks {
 public:
  explicit Checks(std::string theorem) : theorem_(std::move(theorem)) {}

  void equal(std::string name, double expected, double found, double tolerance);
  void at_most(std::string name, double expected, double found, double tolerance = 0);
  void at_least(std::string name, double expected, double found, double tolerance = 0);

  std::vector<Check> list;

 private:
  std::string theorem_;
};

// Schema hifi.verify/1.
std::string checks_json(const std::vector<Check>& checks);
// A line per check, then how many hold.
std::string checks_text(const std::vector<Check>& checks);

}  // namespace hifi
