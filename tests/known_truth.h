// Worlds with known truth, and how well profiles hold it. Shared by the unit tests and the benchmark.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audit/audit.h"
#include "audit/profile.h"
#include "core/random.h"

namespace hifi {

// A data-generating process, its oracle model, and the mean loss of every coalition in the population.
struct Setting {
  std::string name;
  std::size_t players;
  std::function<void(RandomStream&, std::vector<double>&)> draw;  // inputs of one row
  std::function<double(const double*)> model;
  double noise = 0;  // standard deviation of the truth around the model
  std::vector<double> population;
};

inline void fair_bits(RandomStream& random, std::vector<double>& x) {
  for (double& v : x) v = static_cast<double>(random.next_u64() >> 63);
}

// E (f(x) - f(x on S, z off S))^2 over independent fair bits, by enumeration.
inline std::vector<double> enumerate_bits(const Setting& s) {
  const std::size_t all = std::size_t{1} << s.players;
  std::vector<double> losses(all, 0.0), x(s.players), hybrid(s.players);
  for (std::size_t mask = 0; mask < all; ++mask) {
    for (std::size_t a = 0; a < all; ++a) {
      for (std::size_t b = 0; b < all; ++b) {
        for (std::size_t i = 0; i < s.players; ++i) {
          x[i] = static_cast<double>((a >> i) & 1U);
          hybrid[i] = (mask >> i) & 1U ? x[i] : static_cast<double>((b >> i) & 1U);
        }
        losses[mask] +=
            std::pow(s.model(x.data()) - s.model(hybrid.data()), 2) / static_cast<double>(all * all);
      }
    }
  }
  return losses;
}

inline int parity(const double* x) {
  return (static_cast<int>(x[0]) + static_cast<int>(x[1]) + static_cast<int>(x[2])) % 2;
}

inline Setting xor3() {
  Setting s{.name = "XOR3", .players = 4, .draw = fair_bits, .model = [](const double* x) {
              return 1.0 * parity(x);
            }};
  s.population = enumerate_bits(s);
  return s;
}

inline Setting xor_and() {
  Setting s{.name = "XOR+AND", .players = 4, .draw = fair_bits, .model = [](const double* x) {
              return parity(x) + x[2] * x[3];
            }};
  s.population = enumerate_bits(s);
  return s;
}

// y = (x1+x2)/2 + x3 x4 + x5 + x6 x7 x8 + .05 N, x2 = x1 + .1 N. The terms are independent and their
// differences have mean zero, so their squared differences add up.
inline Setting eight() {
  Setting s{.name = "eight features", .players = 8, .noise = 0.05};
  s.draw = [](RandomStream& random, std::vector<double>& x) {
    for (double& v : x) v = random.normal();
    x[1] = x[0] + 0.1 * x[1];
  };
  s.model = [](const double* x) { return (x[0] + x[1]) / 2 + x[2] * x[3] + x[4] + x[5] * x[6] * x[7]; };
  for (unsigned mask = 0; mask < 256; ++mask) {
    const auto has = [&](unsigned i) { return ((mask >> i) & 1U) != 0; };
    double loss = 0.0025;
    loss += has(0) && has(1) ? 0 : has(0) ? 2 * 1.01 / 4 : has(1) ? 2 * 1.0 / 4 : 2 * 1.0025;
    loss += has(2) && has(3) ? 0 : 2;
    loss += has(4) ? 0 : 2;
    loss += has(5) && has(6) && has(7) ? 0 : 2;
    s.population.push_back(loss);
  }
  return s;
}

// Fifteen players that matter and one that hardly does: its gain is 0.08 in every context, a quarter of the
// threshold, but the largest of its noisy gains exceeds that.
inline Setting near_dummy() {
  Setting s{.name = "near-dummy", .players = 16, .noise = 0.5};
  s.draw = [](RandomStream& random, std::vector<double>& x) {
    for (double& v : x) v = random.normal();
  };
  s.model = [](const double* x) {
    double sum = 0.2 * x[15];
    for (std::size_t i = 0; i < 15; i += 3) sum += x[i] + x[i + 1] + x[i + 1] * x[i + 2];
    return sum;
  };
  return s;
}

class FunctionModel : public Model {
 public:
  FunctionModel(const Setting& setting, std::vector<std::string> columns) : model_(setting.model) {
    info_ = {.path = setting.name,
             .format = "function",
             .task = Task::regression,
             .width = columns.size(),
             .columns = std::move(columns),
             .tie_tolerance = 1e-9};
  }
  const ModelInfo& info() const override { return info_; }
  void predict(std::span<const double> rows, std::size_t count, std::span<double> out) const override {
    for (std::size_t r = 0; r < count; ++r) out[r] = model_(rows.data() + r * info_.width);
  }

 private:
  ModelInfo info_;
  std::function<double(const double*)> model_;
};

inline Table make_table(const Setting& s, std::size_t rows, std::uint64_t seed, bool truth) {
  Table table{.source = s.name, .rows = rows};
  for (std::size_t i = 0; i < s.players; ++i)
    table.columns.push_back({.name = fmt::format("x{}", i + 1), .values = std::vector<double>(rows)});
  if (truth) table.columns.push_back({.name = "y", .values = std::vector<double>(rows)});
  std::vector<double> x(s.players);
  for (std::size_t r = 0; r < rows; ++r) {
    RandomStream random(seed, Purpose::probe, r);
    s.draw(random, x);
    for (std::size_t i = 0; i < s.players; ++i) table.columns[i].values[r] = x[i];
    if (truth) table.columns.back().values[r] = s.model(x.data()) + s.noise * random.normal();
  }
  return table;
}

struct Tally {
  double covered = 0, width = 0, bias = 0, plugin_bias = 0, square = 0, plugin_square = 0, count = 0;
  double absolute = 0, plugin_absolute = 0;
  void add(const Quantity& q, double truth, bool population) {
    const double value = population ? *q.population : *q.value;
    ++count;
    covered += (!q.low || *q.low <= truth + 1e-12) && (!q.high || *q.high >= truth - 1e-12);
    width += q.low && q.high ? *q.high - *q.low : 0;
    bias += value - truth;
    plugin_bias += *q.plugin - truth;
    absolute += std::abs(value - truth);
    plugin_absolute += std::abs(*q.plugin - truth);
    square += std::pow(value - truth, 2);
    plugin_square += std::pow(*q.plugin - truth, 2);
  }
};

inline const std::vector<std::string> kChannels = {"pi", "last", "U", "Lmax", "R", "S", "S pair", "R pair"};

inline void tally(const Profile& profile, const ScanResult& truth, bool population,
                  std::vector<Tally>& tallies) {
  for (std::size_t i = 0; i < profile.features.size(); ++i) {
    const FeatureProfile& f = profile.features[i];
    const FeatureProfile& t = truth.features[i];
    const std::pair<const Quantity*, const Quantity*> both[] = {
        {&f.pi, &t.pi}, {&f.last, &t.last}, {&f.U, &t.U}, {&f.Lmax, &t.Lmax}, {&f.R, &t.R}, {&f.S, &t.S}};
    for (std::size_t c = 0; c < 6; ++c) tallies[c].add(*both[c].first, *both[c].second->value, population);
  }
  for (std::size_t k = 0; k < profile.pairs.size(); ++k) {
    tallies[6].add(profile.pairs[k].S, *truth.pairs[k].S.value, population);
    tallies[7].add(profile.pairs[k].R, *truth.pairs[k].R.value, population);
  }
}

inline std::vector<std::string> column_names(std::size_t n) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < n; ++i) names.push_back(fmt::format("x{}", i + 1));
  return names;
}

// Through the Audit and the profile of `hifi explain`. `keep`: the run goes into this file, too.
inline Profile explain(const Setting& s, const Table& data, const std::optional<Table>& background,
                       ExplainRequest request, Workers& workers, const std::string& keep = "") {
  request.target = "y";
  request.background = background ? "separate table" : "data";
  Audit audit(request,
              {.data = data,
               .background = background,
               .model = std::make_unique<FunctionModel>(s, column_names(s.players))},
              {}, workers);
  std::optional<RunFile> file;
  if (!keep.empty()) file.emplace(RunFile::create(keep, audit.plan().to_json()));
  const RunResult result = audit.run(file ? &*file : nullptr, {});
  return make_profile(audit.plan(), result, "all", workers);
}

}  // namespace hifi
