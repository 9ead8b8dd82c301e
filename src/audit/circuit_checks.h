// Does what a circuit's profile says depend on the choice of its heads? The audit again with one head left
// out (it stays intact then), and with a head replaced by another one of its role.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audit/request.h"
#include "core/parallel.h"
#include "hifi/profile.h"

namespace hifi {

struct SubsetCheck {
  std::string left_out;                // a head
  std::optional<std::string> instead;  // of the same role; absent: the head stays intact
  // Over the heads and the pairs that both audits have; absent where a list is constant.
  std::optional<double> heads;      // Spearman of Lmax
  std::optional<double> pairs;      // Spearman of S - R
  std::optional<double> same_sign;  // share of pairs with S - R of the same sign
  std::optional<double> roles;      // Spearman of S - R of pairs of roles
};

// The audits that will be made. A head is replaced by the first head of its role that is no player.
std::vector<SubsetCheck> plan_subset_checks(const Profile& profile);

// One audit each, with the flags of the request. `tell` hears of each before it starts.
void run_subset_checks(const ExplainRequest& request, const Profile& profile,
                       std::vector<SubsetCheck>& checks, Workers& workers,
                       const std::function<void(const SubsetCheck&)>& tell);

std::string subset_checks_json(const std::vector<SubsetCheck>& checks);
std::string subset_checks_text(const std::vector<SubsetCheck>& checks);

}  // namespace hifi
