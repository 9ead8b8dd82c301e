// Truth of a planted image. The gain of a player depends only on the weight already in sight, so its extremes
// are over the sums that the other patches can reach: a subset-sum table, not 2^n coalitions.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <tuple>

#include "game/planted.h"

namespace hifi {

namespace {

constexpr std::size_t kPairedPlayers = 8;

class ReachableSums {
 public:
  explicit ReachableSums(std::size_t largest) : words_(largest / 64 + 1) { words_[0] = 1; }

  // One player of the patch is in, or both are.
  void add_patch(std::size_t weight) {
    const std::vector<std::uint64_t> before = words_;
    for (const std::size_t shift : {10 * weight, 13 * weight}) {
      const std::size_t whole = shift / 64, part = shift % 64;
      for (std::size_t w = words_.size(); w-- > whole;) {
        words_[w] |= before[w - whole] << part;
        if (part > 0 && w > whole) words_[w] |= before[w - whole - 1] >> (64 - part);
      }
    }
  }

  void for_each(auto&& body) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t rest = words_[w]; rest != 0; rest &= rest - 1) {
        body(w * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
      }
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

class ImageTruth {
 public:
  explicit ImageTruth(const PlantedImage& image)
      : weights_(image.weights),
        total_(13 * std::accumulate(image.weights.begin(), image.weights.end(), std::size_t{0})) {
    for (std::size_t sum = 0; sum <= total_; ++sum) {
      loss_.push_back(planted_image_loss(static_cast<double>(sum), static_cast<double>(total_)));
    }
  }

  PlantedTruth find() {
    PlantedTruth truth;
    truth.other_pairs_are_zero = false;
    find_players();
    for (const std::uint32_t weight : weights_) {
      const Extremes& e = players_.at(weight);
      for (int twin = 0; twin < 2; ++twin) {
        truth.U.push_back(e.low);
        truth.Lmax.push_back(e.high);
        truth.pi.push_back(e.pi);
        truth.last.push_back(e.last);
      }
    }
    find_pairs(truth);
    return truth;
  }

 private:
  struct Extremes {
    double low = INFINITY, high = -INFINITY, pi = 0, last = 0;
  };
  struct PairExtremes {
    double S = 0, R = 0;
  };

  double loss(std::size_t sum) const { return loss_[sum]; }

  ReachableSums reachable(std::size_t skipped, std::size_t also_skipped) const {
    ReachableSums sums(total_);
    for (std::size_t k = 0; k < weights_.size(); ++k) {
      if (k != skipped && k != also_skipped) sums.add_patch(weights_[k]);
    }
    return sums;
  }

  // Patches of one weight have the same truth, found from the sums of all patches but one of them. By halves:
  // what one half leaves out, all of the other half needs.
  void find_players() {
    std::vector<std::uint32_t> distinct = weights_;
    std::ranges::sort(distinct);
    ReachableSums repeated(total_);
    for (std::size_t k = 1; k < distinct.size(); ++k) {
      if (distinct[k] == distinct[k - 1]) repeated.add_patch(distinct[k]);
    }
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    find_players(distinct, repeated);
  }

  void find_players(std::span<const std::uint32_t> distinct, const ReachableSums& others) {
    if (distinct.size() == 1) return find_player(distinct[0], others);
    const auto lower = distinct.first(distinct.size() / 2), upper = distinct.subspan(distinct.size() / 2);
    for (const auto& [kept, added] : {std::pair(lower, upper), std::pair(upper, lower)}) {
      ReachableSums sums = others;
      for (const std::uint32_t weight : added) sums.add_patch(weight);
      find_players(kept, sums);
    }
  }

  void find_player(std::size_t weight, const ReachableSums& others) {
    Extremes& e = players_[static_cast<std::uint32_t>(weight)];
    const std::size_t first = 10 * weight, both = 13 * weight;
    others.for_each([&](std::size_t s) {
      for (const double gain : {loss(s) - loss(s + first), loss(s + first) - loss(s + both)}) {
        e.low = std::min(e.low, gain);
        e.high = std::max(e.high, gain);
      }
    });
    e.pi = loss(0) - loss(first);
    e.last = loss(total_ - both + first) - loss(total_);
  }

  const PairExtremes& pair(std::size_t k, std::size_t l) {
    const auto key =
        std::tuple(k == l, std::min(weights_[k], weights_[l]), std::max(weights_[k], weights_[l]));
    const auto [at, is_new] = pairs_.try_emplace(key);
    PairExtremes& e = at->second;
    if (!is_new) return e;
    const auto note = [&](std::size_t none, std::size_t one, std::size_t other, std::size_t both) {
      const double delta = loss(one) + loss(other) - loss(both) - loss(none);
      e.S = std::max(e.S, delta);
      e.R = std::max(e.R, -delta);
    };
    const std::size_t w = weights_[k], v = weights_[l], a = 10 * w, b = 10 * v, aa = 13 * w, bb = 13 * v;
    reachable(k, l).for_each([&](std::size_t s) {
      if (k == l) return note(s, s + a, s + a, s + aa);
      // The twin of each may be in already.
      for (const auto& [x, xx] : {std::pair(s, s + a), std::pair(s + a, s + aa)}) {
        note(x, xx, x + b, xx + b);
        note(x + b, xx + b, x + bb, xx + bb);
      }
    });
    return e;
  }

  void find_pairs(PlantedTruth& truth) {
    std::vector<std::uint32_t> order(truth.Lmax.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order,
                             [&](std::uint32_t a, std::uint32_t b) { return truth.Lmax[a] > truth.Lmax[b]; });
    order.resize(std::min(order.size(), kPairedPlayers));
    std::ranges::sort(order);
    for (std::size_t x = 0; x < order.size(); ++x) {
      for (std::size_t y = x + 1; y < order.size(); ++y) {
        const PairExtremes& e = pair(order[x] / 2, order[y] / 2);
        truth.pairs.push_back({.first = order[x], .second = order[y], .S = e.S, .R = e.R});
      }
    }
  }

  const std::vector<std::uint32_t>& weights_;
  std::size_t total_;
  std::vector<double> loss_;  // by sum
  std::map<std::uint32_t, Extremes> players_;
  std::map<std::tuple<bool, std::uint32_t, std::uint32_t>, PairExtremes> pairs_;
};

}  // namespace

double planted_image_loss(double sum, double total) { return 1 / (1 + std::exp((sum / total - .35) / .06)); }

PlantedTruth planted_image_truth(const PlantedImage& image) { return ImageTruth(image).find(); }

}  // namespace hifi
