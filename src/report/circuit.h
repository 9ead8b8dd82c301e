// What is said of a circuit beside its profile: patching scores, pairs of roles, heads that patching does not
// see.
//
// Everything comes from the profile and the roles in its provenance, so a run file can be told again without
// its model.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hifi/profile.h"

namespace hifi {

struct RolePair {
  std::string first, second;
  std::size_t pairs = 0;  // that have both values
  double S = 0;           // means over them
  double R = 0;
};

// A head that single-head patching does not see, though it works together with others.
struct HiddenHead {
  std::uint32_t player = 0;
  bool by_ablation = false;              // ablating it alone in the intact model does not show it either
  std::optional<std::uint32_t> partner;  // of its largest pair synergy
};

struct Circuit {
  std::string about;                             // model, task and what absent heads give, in a sentence
  bool groups = false;                           // a player has several heads
  std::vector<std::optional<std::string>> role;  // of each player; absent if its heads have none or several
  std::vector<RolePair> role_pairs;
  // Spearman of U, R, S, Lmax with restoring a head into the ablated set (pi) and with ablating it in the
  // intact model (last); absent where a list is constant.
  struct Ranks {
    std::string quantity;
    std::optional<double> restore, ablate;
  };
  std::vector<Ranks> ranks;
  std::optional<double> restore_ablate;  // of the two scores with each other
  std::vector<HiddenHead> hidden;
};

// Nothing if the profile is not of a circuit.
std::optional<Circuit> circuit_of(const Profile& profile);

// The field `circuit` of the profile.
std::string circuit_json(const Profile& profile, const Circuit& circuit);
// Tables for the terminal.
std::string circuit_text(const Profile& profile, const Circuit& circuit);

}  // namespace hifi
