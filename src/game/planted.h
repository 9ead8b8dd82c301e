// Games with a known answer: a few planted effects among many players that do nothing. They judge searches
// and let users try the method where the truth is at hand (docs/planted.md has the file format).
//
// The loss of a coalition is `base` plus what each block adds for the members it holds, minus the additive
// effects; or the loss of an image of which every patch matters. Blocks share no players, so the extremes of
// a gain lie within its own block and truth comes from enumerating blocks one by one.
//
// Thread safety: immutable after construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "game/game.h"

namespace hifi {

inline constexpr std::size_t kMaxPlantedBlock = 16;

struct PlantedBlock {
  std::vector<std::uint32_t> players;
  std::vector<double> values;  // 2^players, added to the loss; bit b of the index = players[b]
};

// Players 2k and 2k+1 both show patch k: the first of them is worth 10 weights, the second 3 more. The loss
// is 1 / (1 + exp((s / total - .35) / .06)) of the sum s: a classifier that is sure once it has seen enough.
struct PlantedImage {
  std::vector<std::uint32_t> weights;
};

struct PlantedSpec {
  std::vector<std::string> names;
  double base = 0;
  std::vector<PlantedBlock> blocks;
  std::vector<double> additive;       // gain of each player in every context; empty: none
  std::optional<PlantedImage> image;  // instead of blocks and additive
  std::uint32_t draws = 1;
  double noise = 0;  // standard deviation per (coalition, draw), independent
  std::uint64_t noise_seed = 0;
};

struct PlantedPair {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  double S = 0;
  double R = 0;
};

struct PlantedTruth {
  std::vector<double> U, Lmax, pi, last;
  std::vector<PlantedPair> pairs;  // first < second
  bool other_pairs_are_zero =
      true;  // false for an image: only pairs of its eight strongest players are given
};

class PlantedGame : public Game {
 public:
  // `source` names the file in errors. Throws Error(input) if the parts do not fit together.
  explicit PlantedGame(PlantedSpec spec, const std::string& source = "planted game");

  std::size_t players() const override { return spec_.names.size(); }
  double coalition_noise() const override { return spec_.noise; }
  void losses(const CoalitionList& coalitions, std::span<const Draw> draws, std::span<double> out,
              Workers& workers) override;

  // Without noise.
  double loss(const Coalition& coalition) const;
  // The mean over draws [first, first + count) of each coalition, as a search asks for it.
  std::vector<double> mean_losses(std::span<const Coalition> coalitions, std::uint32_t first,
                                  std::uint32_t count, Workers& workers);

  const PlantedSpec& spec() const { return spec_; }
  const PlantedTruth& truth() const { return truth_; }

 private:
  PlantedSpec spec_;
  PlantedTruth truth_;
};

// Throws Error(input) naming the file and the field: not JSON, unknown or missing fields, wrong types or
// sizes.
std::unique_ptr<PlantedGame> load_planted(const std::string& path);
PlantedSpec planted_from_json(const std::string& text, const std::string& source);
std::string planted_to_json(const PlantedSpec& spec);

// mix: unique, OR, AND and a harmful player with its guard; masked: gains vanish at both ends for most
// players; random: arbitrary blocks of six; link: redundant patches under a sigmoid; net: squared error of a
// random tanh network; tail: mix and a weak effect of every other player; image: every player matters; null:
// none does. Also "needle6" and the like: the loss moves at one pattern of 6 players only.
std::vector<std::string> planted_families();
// The same (family, players, seed) is the same game. Throws Error(input) for an unknown family, too few
// players, or an odd number of players of an image.
PlantedSpec planted_family(const std::string& family, std::size_t players, std::uint64_t seed);

// For planted.cc: the parts of truth and loss that belong to images.
double planted_image_loss(double sum, double total);
PlantedTruth planted_image_truth(const PlantedImage& image);

}  // namespace hifi
