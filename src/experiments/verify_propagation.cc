// The proposition: if all losses are within eps, then U, Lmax and pi are within 2 eps, R, S and the channels
// of pairs within 4 eps. Both factors are attained, so no smaller ones will do.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/random.h"
#include "experiments/verify.h"

namespace hifi {

namespace {

constexpr std::size_t kPlayers = 4;
constexpr double kEpsilon = .01;

struct Channel {
  const char* name;
  double factor;
  std::function<double(const ScanResult&)> value;
};

std::vector<Channel> channels() {
  const auto player = [](Quantity FeatureProfile::*field) {
    return [field](const ScanResult& scan) { return *(scan.features[0].*field).value; };
  };
  return {{"U", 2, player(&FeatureProfile::U)},
          {"Lmax", 2, player(&FeatureProfile::Lmax)},
          {"pi", 2, player(&FeatureProfile::pi)},
          {"R", 4, player(&FeatureProfile::R)},
          {"S", 4, player(&FeatureProfile::S)},
          {"S of a pair", 4, [](const ScanResult& scan) { return *scan.pairs[0].S.value; }},
          {"R of a pair", 4, [](const ScanResult& scan) { return *scan.pairs[0].R.value; }}};
}

// Distinct losses, far apart against eps, whose extremes lie at different contexts.
std::vector<double> base_game() {
  RandomStream random(3, Purpose::verify, 300);
  std::vector<double> losses(std::size_t{1} << kPlayers);
  for (double& x : losses) x = random.uniform();
  return losses;
}

// Moves every loss by +-eps in the direction that raises (or lowers) the channel, found by trying each alone.
double steepest(const Channel& channel, const std::vector<double>& losses, double direction,
                const Machinery& machinery) {
  const double before = channel.value(machinery.decompose(kPlayers, losses));
  std::vector<double> moved = losses;
  for (std::size_t s = 0; s < losses.size(); ++s) {
    std::vector<double> one = losses;
    one[s] += kEpsilon;
    const double change = channel.value(machinery.decompose(kPlayers, one)) - before;
    moved[s] += (change * direction > 0 ? 1 : -1) * kEpsilon * (change == 0 ? 0 : 1);
  }
  return std::abs(channel.value(machinery.decompose(kPlayers, moved)) - before) / kEpsilon;
}

}  // namespace

std::vector<Check> verify_propagation(const Machinery& machinery) {
  Checks checks("P");
  const std::vector<double> losses = base_game();
  const ScanResult exact = machinery.decompose(kPlayers, losses);
  for (const Channel& channel : channels()) {
    double most = 0;
    for (std::uint64_t r = 0; r < 2000; ++r) {
      RandomStream random(0, Purpose::verify, 1000 + r);
      std::vector<double> moved = losses;
      for (double& x : moved) x += (random.below(2) == 0 ? -1 : 1) * kEpsilon;
      most = std::max(most,
                      std::abs(channel.value(machinery.decompose(kPlayers, moved)) - channel.value(exact)));
    }
    checks.at_most(fmt::format("{}: largest move under 2000 random errors, in eps", channel.name),
                   channel.factor, most / kEpsilon, 1e-9);
    checks.equal(fmt::format("{}: move under the worst errors, in eps", channel.name), channel.factor,
                 std::max(steepest(channel, losses, 1, machinery), steepest(channel, losses, -1, machinery)),
                 1e-9);
  }
  // The plug-in U cannot be above the gain of any context: of the true one it is at most 2 eps.
  double low = 1, high = -1;
  for (std::size_t c = 0; c < losses.size(); c += 2) {
    low = std::min(low, losses[c] - losses[c + 1]);
    high = std::max(high, losses[c] - losses[c + 1]);
  }
  checks.equal("U is the smallest gain", low, *exact.features[0].U.value, 1e-12);
  checks.equal("Lmax is the largest gain", high, *exact.features[0].Lmax.value, 1e-12);
  return checks.list;
}

}  // namespace hifi
