#include "experiments/e1_scm.h"

#include <cmath>

namespace hifi {

namespace {

double bit(double x) { return x > .5 ? 1 : 0; }

double parity(std::span<const double> x) { return std::fmod(bit(x[0]) + bit(x[1]) + bit(x[2]), 2); }

// Fair bits for instances and background: everything can be enumerated.
CausalModel bits_model(std::string key, std::string name, std::string formula,
                       std::function<double(std::span<const double>)> mean) {
  constexpr std::size_t kPlayers = 4;
  CausalModel model{.key = std::move(key),
                    .name = std::move(name),
                    .formula = std::move(formula),
                    .players = kPlayers,
                    .binary = true,
                    .sample =
                        [](RandomStream& random, std::span<double> row) {
                          for (double& x : row) x = static_cast<double>(random.below(2));
                        },
                    .mean = std::move(mean)};
  const BinaryModel oracle = binary_model(model);
  constexpr Bits kRows = 1U << kPlayers;
  model.population_losses.assign(kRows, 0.0);
  for (Bits x = 0; x < kRows; ++x) {
    const auto losses = oracle.losses(x);
    for (std::size_t s = 0; s < losses.size(); ++s) model.population_losses[s] += losses[s] / kRows;
  }
  return model;
}

// The terms of Synth3 share no column, so their squared errors add up. A term whose columns are not all kept
// costs E(term - term of the mixed row)^2.
std::vector<double> synth3_losses(double copy_noise, double noise) {
  const double spread = 1 + copy_noise * copy_noise;          // Var x2
  const double both = 2 * (1 + copy_noise * copy_noise / 4);  // 2 Var (x1 + x2)/2
  std::vector<double> losses(256, noise * noise);
  for (std::size_t s = 0; s < losses.size(); ++s) {
    const auto has = [&](std::size_t set) { return (s & set) == set; };
    losses[s] += has(0b11) ? 0 : has(0b01) ? 2 * spread / 4 : has(0b10) ? 2 * 1.0 / 4 : both;
    // Of a product of independent standard normals any missing factor costs E x^2 .. E (x - z)^2 = 2.
    losses[s] += has(0b1100) ? 0 : 2;
    losses[s] += has(0b10000) ? 0 : 2;
    losses[s] += has(0b11100000) ? 0 : 2;
  }
  return losses;
}

}  // namespace

std::vector<std::string> CausalModel::columns() const {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= players; ++i) names.push_back("x" + std::to_string(i));
  return names;
}

BinaryModel binary_model(const CausalModel& model) {
  return {.players = model.players, .predict = [mean = model.mean, n = model.players](Bits bits) {
            std::vector<double> row;
            for (std::size_t i = 0; i < n; ++i) row.push_back((bits >> i) & 1U);
            return mean(row);
          }};
}

CausalModel xor3_model() {
  CausalModel model = bits_model("xor3", "XOR3", "y = XOR(x1, x2, x3); x4 is a spectator", parity);
  model.active_pairs = {{0, 1}, {0, 2}, {1, 2}};
  return model;
}

CausalModel xor_and_model() {
  CausalModel model = bits_model("xor_and", "XOR+AND", "y = XOR(x1, x2, x3) + AND(x3, x4)",
                                 [](std::span<const double> x) { return parity(x) + bit(x[2]) * bit(x[3]); });
  model.active_pairs = {{0, 1}, {0, 2}, {1, 2}, {2, 3}};
  return model;
}

CausalModel synth3_model() {
  constexpr double kCopyNoise = .1;
  constexpr double kNoise = .05;
  return {.key = "synth3",
          .name = "Synth3",
          .formula = "y = (x1 + x2)/2 + x3 x4 + x5 + x6 x7 x8 + 0.05 N; x2 = x1 + 0.1 N, all others N(0, 1)",
          .players = 8,
          .sample =
              [](RandomStream& random, std::span<double> row) {
                for (double& x : row) x = random.normal();
                row[1] = row[0] + kCopyNoise * row[1];
              },
          .mean =
              [](std::span<const double> x) {
                return (x[0] + x[1]) / 2 + x[2] * x[3] + x[4] + x[5] * x[6] * x[7];
              },
          .noise = kNoise,
          .population_losses = synth3_losses(kCopyNoise, kNoise),
          .active_pairs = {{0, 1}, {2, 3}, {5, 6}, {5, 7}, {6, 7}}};
}

std::vector<CausalModel> e1_models() { return {xor3_model(), xor_and_model(), synth3_model()}; }

Table Sample::table(const std::string& source) const {
  Table table{.source = source, .rows = size()};
  for (std::size_t c = 0; c < width; ++c) {
    Column column{.name = "x" + std::to_string(c + 1)};
    for (std::size_t r = 0; r < size(); ++r) column.values.push_back(rows[r * width + c]);
    table.columns.push_back(std::move(column));
  }
  table.columns.push_back({.name = "y", .values = targets});
  return table;
}

Sample draw_sample(const CausalModel& model, std::size_t rows, std::uint64_t seed, std::uint64_t part) {
  Sample sample{.width = model.players, .rows = std::vector<double>(rows * model.players)};
  RandomStream random(seed, Purpose::experiment_rows, part);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::span<double> row(sample.rows.data() + r * model.players, model.players);
    model.sample(random, row);
    sample.targets.push_back(model.mean(row) + model.noise * random.normal());
  }
  return sample;
}

Sample all_patterns(const CausalModel& model) {
  Sample sample{.width = model.players};
  for (std::size_t pattern = 0; pattern < std::size_t{1} << model.players; ++pattern) {
    std::vector<double> row;
    for (std::size_t i = 0; i < model.players; ++i) row.push_back(static_cast<double>((pattern >> i) & 1U));
    sample.rows.insert(sample.rows.end(), row.begin(), row.end());
    sample.targets.push_back(model.mean(row));
  }
  return sample;
}

Sample permuted_columns(const Sample& sample, std::uint64_t seed) {
  Sample result = sample;
  for (std::size_t c = 0; c < sample.width; ++c) {
    const auto order = RandomStream(seed, Purpose::experiment_background, c).permutation(sample.size());
    for (std::size_t r = 0; r < sample.size(); ++r)
      result.rows[r * sample.width + c] = sample.rows[order[r] * sample.width + c];
  }
  return result;
}

Roles synth3_roles() {
  Roles roles{.U = {0, 0, 0, 0, 1, 0, 0, 0}, .R = {1, 1, 0, 0, 0, 0, 0, 0}, .S = {0, 0, 1, 1, 0, 1, 1, 1}};
  for (std::uint32_t i = 0; i < 8; ++i) {
    for (std::uint32_t j = i + 1; j < 8; ++j) {
      roles.pair_R.push_back(i == 0 && j == 1 ? 1 : 0);
      roles.pair_S.push_back((i == 2 && j == 3) || i >= 5 ? 1 : 0);
    }
  }
  return roles;
}

}  // namespace hifi
