// The answer: for each player U, R, S, for each pair S and R. Plain data.
//
// An absent value is std::nullopt (JSON null), never 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hifi {

// A reported number with all that is known about it. `context` holds player positions.
struct Quantity {
  std::optional<double> value;
  std::optional<double> plugin;
  std::optional<double> low;
  std::optional<double> high;
  std::optional<double> population;
  std::optional<std::vector<std::uint32_t>> context;
  std::optional<bool> resolved;
};

struct GainQuantiles {
  double q05 = 0;
  double q50 = 0;
  double q95 = 0;
};

// What a search says about a player beside its numbers.
struct SearchNote {
  std::uint64_t quiet_tests = 0;  // sets that held it and entered or left at once without effect
  std::vector<std::uint32_t>
      block;                      // players that interact with it, itself included; empty: no effect was seen
  bool block_enumerated = false;  // all patterns of the block, with all others out and with all others in
};

struct FeatureProfile {
  Quantity U, R, S, pi, Lmax, last;
  std::optional<GainQuantiles> gain;
  std::uint64_t contexts_seen = 0;
  std::optional<std::string> verdict;
  std::string basis = "enumerated";
  std::optional<bool> hurts_in_context;
  std::optional<SearchNote> search;  // of a searched run
};

struct PairProfile {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  Quantity S, R;
  std::uint64_t contexts_seen = 0;
};

// The profile of one instance, with verdicts by the threshold of all.
struct InstanceProfile {
  std::size_t row = 0;         // of the data, from 0
  std::string image;           // instead of a row, if instances are images
  std::string details = "{}";  // a JSON object: what else is known about it
  std::vector<FeatureProfile> features;
  std::vector<PairProfile> pairs;
};

struct Coverage {
  std::uint64_t coalitions = 0;
  bool exhaustive = false;
  std::optional<std::uint64_t> draws;  // per coalition; absent for a bare table
  std::optional<bool> exact;
  std::optional<std::string> interval;
  double confidence = 0.95;
  std::optional<double> threshold;
};

struct Warning {
  std::string code;
  std::string message;
};

struct Profile {
  std::vector<std::string> players;
  std::string loss;
  std::string measure = "loss";
  std::string expected = "loss";
  Coverage coverage;
  std::vector<FeatureProfile> features;
  std::vector<PairProfile> pairs;
  std::vector<InstanceProfile> instances;  // if asked for, by row
  std::vector<Warning> warnings;
  std::string provenance = "{}";  // a JSON object

  // Of U, R, S and Lmax, over the contexts seen; infinite if an end of one is not known. Not written.
  double widest_interval = 0;
  double full_gain = 0;  // L({}) - L(all). Not written
};

}  // namespace hifi
