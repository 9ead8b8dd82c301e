// How well a set of evaluated coalitions recovers the truth of a planted game. Shared by the unit tests and
// the benchmark; written against the definitions, apart from the code it judges.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "game/planted.h"
#include "hifi/coalition.h"

namespace hifi {

struct PlantedScore {
  double role_recall = 0, role_precision = 0, pair_recall = 0, pair_precision = 0;
  double U_error = 0, Lmax_error = 0;  // mean |error| over the players that matter / their mean Lmax
};

class PlantedJudge {
 public:
  PlantedJudge(const PlantedGame& game, std::span<const Coalition> coalitions, std::span<const double> losses)
      : truth_(game.truth()), sigma_(game.spec().noise), n_(game.players()), losses_(losses) {
    for (std::size_t c = 0; c < coalitions.size(); ++c) index_.emplace(coalitions[c], c);
    for (std::size_t i = 0; i < n_; ++i) players_.push_back(player(i, coalitions));
    const double top = *std::max_element(truth_.Lmax.begin(), truth_.Lmax.end());
    threshold_ = .1 * top;
  }

  PlantedScore score() const {
    PlantedScore s;
    score_roles(s);
    score_pairs(s);
    score_values(s);
    return s;
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  struct Player {
    std::vector<std::size_t> next;  // context -> the coalition with the player
    double U = NAN, Lmax = NAN, pi = NAN;
    std::size_t contexts = 0;
    double strength() const { return contexts == 0 ? 0 : std::max(std::abs(U), std::abs(Lmax)); }
  };
  struct Count {
    double hit = 0, missed = 0, wrong = 0;
    double recall() const { return hit + missed == 0 ? 1 : hit / (hit + missed); }
    double precision() const { return hit + wrong == 0 ? 1 : hit / (hit + wrong); }
  };

  Player player(std::size_t i, std::span<const Coalition> coalitions) const {
    Player p{.next = std::vector<std::size_t>(coalitions.size(), kNone)};
    for (std::size_t c = 0; c < coalitions.size(); ++c) {
      if (coalitions[c].contains(i)) continue;
      const auto at = index_.find(coalitions[c].with(i));
      if (at == index_.end()) continue;
      p.next[c] = at->second;
      const double gain = losses_[c] - losses_[at->second];
      p.U = p.contexts == 0 ? gain : std::min(p.U, gain);
      p.Lmax = p.contexts == 0 ? gain : std::max(p.Lmax, gain);
      if (coalitions[c].count() == 0) p.pi = gain;
      ++p.contexts;
    }
    return p;
  }

  // Large in truth must be seen at .7 of the threshold; what is seen must be at least half of it in truth.
  // With noise what is seen must also exceed the largest of as many noise differences.
  void judge(double truth, double seen, double limit, double threshold, Count& count) const {
    const bool found = seen > limit;
    if (truth > threshold) (found ? count.hit : count.missed) += 1;
    if (found && !(truth > .5 * threshold)) count.wrong += 1;
  }

  void score_roles(PlantedScore& s) const {
    Count count;
    for (std::size_t i = 0; i < n_; ++i) {
      const Player& p = players_[i];
      const auto tested = static_cast<double>(std::max<std::size_t>(2, p.contexts) * n_);
      const double one = std::max(.7 * threshold_, sigma_ * std::sqrt(2 * 2 * std::log(2 * tested)));
      const double two = sigma_ > 0 ? std::sqrt(2.) * one : one;
      judge(truth_.U[i], p.U, one, threshold_, count);
      judge(truth_.pi[i] - truth_.U[i], p.pi - p.U, two, threshold_, count);
      judge(truth_.Lmax[i] - truth_.pi[i], p.Lmax - p.pi, two, threshold_, count);
      judge(-truth_.U[i], -p.U, one, threshold_, count);
    }
    s.role_recall = count.recall();
    s.role_precision = count.precision();
  }

  // All pairs of truth, and all pairs among the players that were seen to matter.
  void score_pairs(PlantedScore& s) const {
    std::map<std::pair<std::size_t, std::size_t>, PlantedPair> pairs;
    double top = 0;
    std::set<std::size_t> candidates;
    for (const PlantedPair& p : truth_.pairs) {
      pairs[{p.first, p.second}] = p;
      top = std::max({top, p.S, p.R});
      candidates.insert({p.first, p.second});
    }
    if (truth_.other_pairs_are_zero) {
      std::vector<std::size_t> order;
      for (std::size_t i = 0; i < n_; ++i) {
        if (players_[i].strength() > threshold_ / 2) order.push_back(i);
      }
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return players_[a].strength() > players_[b].strength();
      });
      for (std::size_t k = 0; k < std::min<std::size_t>(24, order.size()); ++k) candidates.insert(order[k]);
    }
    const double threshold = truth_.other_pairs_are_zero ? threshold_ : .1 * top;
    Count count;
    for (auto i = candidates.begin(); i != candidates.end(); ++i) {
      for (auto j = std::next(i); j != candidates.end(); ++j) {
        const auto at = pairs.find({*i, *j});
        judge_pair(*i, *j, at == pairs.end() ? PlantedPair{} : at->second, threshold,
                   static_cast<double>(candidates.size()), count);
      }
    }
    s.pair_recall = count.recall();
    s.pair_precision = count.precision();
  }

  void judge_pair(std::size_t i, std::size_t j, const PlantedPair& truth, double threshold, double candidates,
                  Count& count) const {
    double S = 0, R = 0, contexts = 1;
    const std::vector<std::size_t>&with_i = players_[i].next, &with_j = players_[j].next;
    for (std::size_t c = 0; c < with_i.size(); ++c) {
      if (with_i[c] == kNone || with_j[c] == kNone || with_j[with_i[c]] == kNone) continue;
      const double delta = losses_[with_i[c]] + losses_[with_j[c]] - losses_[with_j[with_i[c]]] - losses_[c];
      S = std::max(S, delta);
      R = std::max(R, -delta);
      contexts += 1;
    }
    const double noise = 2 * sigma_ * std::sqrt(2 * std::log(contexts * candidates * candidates));
    judge(truth.S, S, std::max(.7 * threshold, noise), threshold, count);
    judge(truth.R, R, std::max(.7 * threshold, noise), threshold, count);
  }

  void score_values(PlantedScore& s) const {
    double total = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      if (truth_.U[i] == 0 && truth_.Lmax[i] == 0) continue;
      const Player& p = players_[i];
      s.U_error += std::abs((p.contexts == 0 ? 0 : p.U) - truth_.U[i]);
      s.Lmax_error += std::abs((p.contexts == 0 ? 0 : p.Lmax) - truth_.Lmax[i]);
      total += truth_.Lmax[i];
    }
    if (total > 0) s.U_error /= total;
    if (total > 0) s.Lmax_error /= total;
  }

  const PlantedTruth& truth_;
  double sigma_;
  std::size_t n_;
  std::span<const double> losses_;
  double threshold_ = 0;
  std::unordered_map<Coalition, std::size_t, CoalitionHash> index_;
  std::vector<Player> players_;
};

}  // namespace hifi
