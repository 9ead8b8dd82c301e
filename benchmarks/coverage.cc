// Coverage, width and bias of the intervals on games with closed-form truth, through the same Audit that
// `hifi explain` runs. Usage: coverage [repetitions] [montecarlo|population] ; prints Markdown tables.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "audit/audit.h"
#include "audit/profile.h"
#include "core/random.h"

namespace {

using namespace hifi;

// A data-generating process, its oracle model, and the mean loss of every coalition in the population.
struct Setting {
  std::string name;
  std::size_t players;
  std::function<void(RandomStream&, std::vector<double>&)> draw;  // inputs of one row
  std::function<double(const double*)> model;
  double noise = 0;  // standard deviation of the truth around the model
  std::vector<double> population;
};

void fair_bits(RandomStream& random, std::vector<double>& x) {
  for (double& v : x) v = static_cast<double>(random.next_u64() >> 63);
}

// E (f(x) - f(x on S, z off S))^2 over independent fair bits, by enumeration.
std::vector<double> enumerate_bits(const Setting& s) {
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

int parity(const double* x) {
  return (static_cast<int>(x[0]) + static_cast<int>(x[1]) + static_cast<int>(x[2])) % 2;
}

Setting xor3() {
  Setting s{.name = "XOR3", .players = 4, .draw = fair_bits, .model = [](const double* x) {
              return 1.0 * parity(x);
            }};
  s.population = enumerate_bits(s);
  return s;
}

Setting xor_and() {
  Setting s{.name = "XOR+AND", .players = 4, .draw = fair_bits, .model = [](const double* x) {
              return parity(x) + x[2] * x[3];
            }};
  s.population = enumerate_bits(s);
  return s;
}

// y = (x1+x2)/2 + x3 x4 + x5 + x6 x7 x8 + .05 N, x2 = x1 + .1 N. The terms are independent and their
// differences have mean zero, so their squared differences add up.
Setting eight() {
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

Table make_table(const Setting& s, std::size_t rows, std::uint64_t seed, bool truth) {
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
  void add(const Quantity& q, double truth, bool population) {
    const double value = population ? *q.population : *q.value;
    ++count;
    covered += (!q.low || *q.low <= truth + 1e-12) && (!q.high || *q.high >= truth - 1e-12);
    width += q.low && q.high ? *q.high - *q.low : 0;
    bias += value - truth;
    plugin_bias += *q.plugin - truth;
    square += std::pow(value - truth, 2);
    plugin_square += std::pow(*q.plugin - truth, 2);
  }
};

const std::vector<std::string> kChannels = {"pi", "last", "U", "Lmax", "R", "S", "S pair", "R pair"};

void tally(const Profile& profile, const ScanResult& truth, bool population, std::vector<Tally>& tallies) {
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

std::vector<std::string> column_names(std::size_t n) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < n; ++i) names.push_back(fmt::format("x{}", i + 1));
  return names;
}

Profile explain(const Setting& s, const Table& data, const std::optional<Table>& background,
                ExplainRequest request, Workers& workers) {
  request.target = "y";
  request.background = background ? "separate table" : "data";
  Audit audit(request,
              {.data = data,
               .background = background,
               .model = std::make_unique<FunctionModel>(s, column_names(s.players))},
              {}, workers);
  const RunResult state = audit.run(nullptr, {});
  return make_profile(audit.plan(), state, "all", workers);
}

void print_row(const std::string& label, const std::vector<Tally>& tallies) {
  std::string line = fmt::format("| {} |", label);
  for (const Tally& t : tallies)
    line += fmt::format(" {:.1f} ({:.2g}) |", 100 * t.covered / t.count, t.width / t.count);
  fmt::print("{}\n", line);
}

void print_errors(const std::string& label, const std::vector<Tally>& tallies) {
  std::string line = fmt::format("| {} |", label);
  for (const Tally& t : tallies) {
    line += fmt::format(" {:+.3f} → {:+.3f}, {:.3f} → {:.3f} |", t.plugin_bias / t.count, t.bias / t.count,
                        std::sqrt(t.plugin_square / t.count), std::sqrt(t.square / t.count));
  }
  fmt::print("{}\n", line);
}

void header(const std::string& title) {
  std::string names, rule;
  for (const std::string& c : kChannels) {
    names += " " + c + " |";
    rule += "---|";
  }
  fmt::print("\n{}\n\n| setting |{}\n|---|{}\n", title, names, rule);
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 200;
  Workers workers;
  const std::vector<Setting> settings = {xor3(), xor_and(), eight()};
  std::map<std::string, std::vector<Tally>> errors;
  header(fmt::format("Population intervals, nominal 95 %: coverage in percent (mean width), {} repetitions",
                     repetitions));
  for (const Setting& s : settings) {
    const ScanResult truth = scan_dense(s.players, s.population, {}, workers);
    for (const std::size_t rows : {128U, 512U}) {
      for (const bool separate : {false, true}) {
        std::vector<Tally> tallies(kChannels.size());
        for (int r = 0; r < repetitions; ++r) {
          const auto seed = static_cast<std::uint64_t>(r) * 2 + 1000;
          const Table data = make_table(s, rows, seed, true);
          std::optional<Table> background;
          if (separate) background = make_table(s, 64, seed + 1, false);
          tally(explain(s, data, background, {.seed = seed}, workers), truth, true, tallies);
        }
        const std::string label =
            fmt::format("{}, {} rows, {}", s.name, rows, separate ? "64 other rows" : "background = data");
        print_row(label, tallies);
        errors[label] = tallies;
      }
    }
  }
  header(
      fmt::format("Monte Carlo intervals on 128 rows against the exact lattice: coverage in percent (mean "
                  "width), {} repetitions",
                  repetitions));
  for (const Setting& s : settings) {
    const Table data = make_table(s, 128, 7, true);
    const Profile exact = explain(s, data, {}, {.exact = true, .interval = "montecarlo"}, workers);
    const ScanResult truth{.features = exact.features, .pairs = exact.pairs};
    for (const std::size_t rounds : {8U, 32U, 120U}) {
      std::vector<Tally> tallies(kChannels.size());
      for (int r = 0; r < repetitions; ++r) {
        const std::uint64_t budget = (std::uint64_t{128} * rounds) << s.players;
        tally(explain(s, data, {},
                      {.budget = budget, .seed = static_cast<std::uint64_t>(r), .interval = "montecarlo"},
                      workers),
              truth, false, tallies);
      }
      const std::string label = fmt::format("{}, {} rounds", s.name, rounds);
      print_row(label, tallies);
      errors[label] = tallies;
    }
  }
  header("Bias of plug-in → estimate, root mean square error of plug-in → estimate");
  for (const auto& [label, tallies] : errors) print_errors(label, tallies);
}
