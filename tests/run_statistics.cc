// Lets Python tests judge the statistics: one JSON request a line on standard input, one JSON answer a line.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stats/correlation.h"
#include "stats/multiple.h"
#include "stats/power.h"
#include "stats/wilcoxon.h"

namespace {

using Json = nlohmann::json;
using Numbers = std::vector<double>;

template <class T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

hifi::Alternative alternative(const Json& request) {
  const std::string name = request.value("alternative", "two-sided");
  if (name == "greater") return hifi::Alternative::greater;
  return name == "less" ? hifi::Alternative::less : hifi::Alternative::two_sided;
}

Json correlation(const std::optional<hifi::Correlation>& found) {
  return found ? Json{found->value, found->p} : Json(nullptr);
}

Json answer(const Json& request) {
  const std::string call = request.at("call");
  const Numbers x = request.value("x", Numbers{});
  const Numbers y = request.value("y", Numbers{});
  if (call == "wilcoxon") {
    const std::string method = request.value("method", "auto");
    const auto found = hifi::wilcoxon(
        x, {.alternative = alternative(request),
            .zeros = request.value("zeros", "drop") == "pratt" ? hifi::Zeros::pratt : hifi::Zeros::drop,
            .method = method == "exact"        ? hifi::TestMethod::exact
                      : method == "asymptotic" ? hifi::TestMethod::asymptotic
                                               : hifi::TestMethod::automatic});
    if (!found) return nullptr;
    return {{"plus", found->plus}, {"minus", found->minus}, {"used", found->used}, {"p", found->p}};
  }
  if (call == "hodges_lehmann") {
    const auto found = hifi::hodges_lehmann(x, request.at("confidence"));
    if (!found) return nullptr;
    return {found->estimate, optional(found->low), optional(found->high)};
  }
  if (call == "pearson") return correlation(hifi::pearson(x, y));
  if (call == "spearman") return correlation(hifi::spearman(x, y));
  if (call == "spearman_ceiling") return optional(hifi::spearman_ceiling(x));
  if (call == "bonferroni") return hifi::bonferroni(x);
  if (call == "holm") return hifi::holm(x);
  if (call == "power")
    return hifi::paired_power(request.at("effect"), request.at("pairs"), request.at("alpha"),
                              alternative(request));
  if (call == "pairs")
    return optional(hifi::pairs_for_power(request.at("effect"), request.at("power"), request.at("alpha"),
                                          alternative(request)));
  throw std::invalid_argument("no such call: " + call);
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) std::cout << answer(Json::parse(line)) << '\n';
}
