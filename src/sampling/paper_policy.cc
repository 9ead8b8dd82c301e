#include "sampling/paper_policy.h"

#include <cmath>

#include "hifi/error.h"
#include "sampling/search_store.h"

namespace hifi {

namespace {

constexpr std::size_t kBatchDiamonds = 32;
constexpr std::size_t kIdleBatches = 1000;  // a small lattice that is all but seen

}  // namespace

PaperPolicy::PaperPolicy(const PaperOptions& options)
    : options_(options), random_(options.seed, Purpose::paper_policy) {
  if (options.players < 2) throw Error(ErrorCode::bug, "a diamond needs two players");
}

std::vector<Coalition> PaperPolicy::forced() const {
  const Coalition empty(options_.players), full = Coalition::full(options_.players);
  std::vector<Coalition> result{empty, full};
  for (std::size_t i = 0; options_.forced_ends && i < options_.players; ++i) {
    result.push_back(empty.with(i));
    result.push_back(full.without(i));
  }
  return result;
}

double PaperPolicy::beta() const {
  return options_.beta / (1 + static_cast<double>(step_) / options_.anneal_steps);
}

Coalition PaperPolicy::draw_uniform() {
  Coalition result(options_.players);
  for (std::size_t w = 0; w < result.words(); ++w) {
    const std::size_t bits = std::min<std::size_t>(64, options_.players - 64 * w);
    result.set_word(w, random_.next_u64() >> (64 - bits));
  }
  return result;
}

// Entries of one bucket are equally likely, so it takes one draw for the bucket and one within it.
Coalition PaperPolicy::draw_least_visited() {
  const double cold = beta();
  const auto least = static_cast<double>(buckets_.begin()->first);
  const auto weight = [&](const auto& bucket) {
    return static_cast<double>(bucket.second.size()) *
           std::exp(-cold * (static_cast<double>(bucket.first) - least));
  };
  double total = 0;
  for (const auto& bucket : buckets_) total += weight(bucket);
  double rest = random_.uniform() * total;
  const std::vector<std::uint32_t>* chosen = &buckets_.begin()->second;
  for (const auto& bucket : buckets_) {
    chosen = &bucket.second;
    rest -= weight(bucket);
    if (rest < 0) break;
  }
  return coalitions_[(*chosen)[random_.below(chosen->size())]];
}

Diamond PaperPolicy::propose() {
  const bool explore = random_.uniform() < options_.epsilon || open_ == 0;
  Coalition context = explore ? draw_uniform() : draw_least_visited();
  ++step_;
  Diamond diamond;
  if (options_.pairs.empty()) {
    diamond.first = static_cast<std::uint32_t>(random_.below(options_.players));
    diamond.second = static_cast<std::uint32_t>(random_.below(options_.players - 1));
    if (diamond.second >= diamond.first) ++diamond.second;
  } else {
    std::tie(diamond.first, diamond.second) = options_.pairs[random_.below(options_.pairs.size())];
  }
  context.erase(diamond.first);
  context.erase(diamond.second);
  const Coalition first = context.with(diamond.first);
  diamond.corners = {context, first, context.with(diamond.second), first.with(diamond.second)};
  return diamond;
}

void PaperPolicy::remove(std::uint32_t entry) {
  const auto bucket = buckets_.find(entries_[entry].visits);
  std::vector<std::uint32_t>& members = bucket->second;
  const std::size_t place = entries_[entry].place;
  members[place] = members.back();
  entries_[members[place]].place = place;
  members.pop_back();
  if (members.empty()) buckets_.erase(bucket);
}

void PaperPolicy::visit(const Coalition& coalition) {
  const auto [at, is_new] = find_.try_emplace(coalition, static_cast<std::uint32_t>(entries_.size()));
  if (is_new) {
    entries_.emplace_back();
    coalitions_.push_back(coalition);
    ++open_;
  }
  Entry& entry = entries_[at->second];
  if (!entry.closed && !is_new) remove(at->second);
  ++entry.visits;
  if (entry.closed) return;
  std::vector<std::uint32_t>& members = buckets_[entry.visits];
  entry.place = members.size();
  members.push_back(at->second);
}

void PaperPolicy::close(const Coalition& coalition) {
  const std::uint32_t at = find_.at(coalition);
  if (entries_[at].closed) return;
  remove(at);
  entries_[at].closed = true;
  --open_;
}

std::uint64_t PaperPolicy::visits(const Coalition& coalition) const {
  const auto at = find_.find(coalition);
  return at == find_.end() ? 0 : entries_[at->second].visits;
}

PaperRun run_paper_policy(const PaperOptions& options, std::size_t budget,
                          const EvaluateCoalitions& evaluate) {
  PaperPolicy policy(options);
  SearchStore store(options.players, budget, options.seed, evaluate);
  try {
    const std::vector<Coalition> forced = policy.forced();
    store.losses(forced);
    for (const Coalition& c : forced) policy.visit(c);
    // Proposals do not look at losses, so many can be evaluated at once.
    for (std::size_t idle = 0; idle < kIdleBatches;) {
      const std::size_t before = store.size();
      std::vector<Coalition> wanted;
      for (std::size_t k = 0; k < kBatchDiamonds; ++k) {
        for (const Coalition& c : policy.propose().corners) {
          policy.visit(c);
          wanted.push_back(c);
        }
      }
      store.losses(wanted);
      idle = store.size() == before ? idle + 1 : 0;
    }
  } catch (const BudgetSpent&) {
  }
  return {.coalitions = store.coalitions(), .losses = store.losses()};
}

}  // namespace hifi
