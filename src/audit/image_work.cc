#include "audit/image_work.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "sampling/search.h"

namespace hifi {

namespace {

using Json = nlohmann::ordered_json;

// One image in work.
class ImageWork {
 public:
  ImageWork(const ImageSubject& subject, ImageNetwork& network, std::size_t image, Workers& workers)
      : s_(subject),
        network_(network),
        workers_(workers),
        image_(image),
        own_(subject.segments(image)),
        sets_(own_.empty() ? subject.grids : own_),
        input_(subject.input(image)),
        reading_(subject.reading),
        cells_(subject.offsets()),
        places_(subject.offsets()) {}

  ImageRecord run() {
    look_at_ends();
    std::vector<Wanted> wanted;
    for (std::size_t g = 0; g < s_.offsets(); ++g) {
      for (const Coalition& c : s_.plans[g].coalitions) wanted.push_back({g, &c});
    }
    evaluate(wanted);
    for (std::size_t g = 0; g < s_.offsets(); ++g) {
      if (s_.plans[g].kind == PatchPlan::Kind::search) search(g);
    }
    const std::vector<double> map = values(0).map(kDefaultMap);
    const std::vector<Region> regions = find_regions(map, neighbours(sets_[0].patches), kRegions);
    ask_pairs(strongest(map, kPairedPatches));
    const Json pairs = ask_regions(regions);
    return {.image = image_, .grids = cells_, .details = details(map, regions, pairs)};
  }

 private:
  struct Wanted {
    std::size_t grid;
    const Coalition* coalition;
  };

  std::size_t players(std::size_t grid) const { return sets_[grid].patches.players(); }

  // {} and all are the same pictures under every grid; the class may follow from the answer to all.
  void look_at_ends() {
    const std::size_t outputs = network_.outputs();
    const Coalition none(players(0));
    const Coalition all = Coalition::full(players(0));
    std::vector<ImageCall> calls{{sets_[0].mask.get(), &all, 0}};
    for (std::size_t f = 0; f < s_.fill_draws; ++f) calls.push_back({sets_[0].mask.get(), &none, f});
    std::vector<double> answers(calls.size() * outputs);
    network_.answers(input_, calls, answers, workers_);
    full_.assign(answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(outputs));
    empty_.assign(answers.begin() + static_cast<std::ptrdiff_t>(outputs), answers.end());
    reading_.target = s_.truth[image_].value_or(named_class(full_, reading_.link, reading_.probabilities));
    std::vector<Reading> at_empty, at_full(s_.fill_draws, reading_(full_));
    for (std::size_t f = 0; f < s_.fill_draws; ++f)
      at_empty.push_back(reading_(std::span(empty_).subspan(f * outputs, outputs)));
    for (std::size_t g = 0; g < s_.offsets(); ++g) {
      add(g, Coalition(players(g)), at_empty);
      add(g, Coalition::full(players(g)), at_full);
    }
  }

  void add(std::size_t grid, const Coalition& c, std::span<const Reading> readings) {
    ImageCells& cells = cells_[grid];
    places_[grid].emplace(c, cells.coalitions.size());
    cells.coalitions.push_back(c);
    for (const Reading& r : readings) cells.values.push_back(r.loss);
    for (const Reading& r : readings) cells.values.push_back(-r.logit);
  }

  // What is not known yet, in the order asked.
  void evaluate(std::span<const Wanted> wanted) {
    std::vector<Wanted> fresh;
    std::vector<ImageCall> calls;
    std::vector<std::unordered_map<Coalition, bool, CoalitionHash>> asked(s_.offsets());
    for (const Wanted& w : wanted) {
      if (places_[w.grid].contains(*w.coalition) || !asked[w.grid].emplace(*w.coalition, true).second)
        continue;
      fresh.push_back(w);
      for (std::size_t f = 0; f < s_.fill_draws; ++f)
        calls.push_back({sets_[w.grid].mask.get(), w.coalition, f});
    }
    const std::size_t outputs = network_.outputs();
    std::vector<double> answers(calls.size() * outputs);
    network_.answers(input_, calls, answers, workers_);
    std::vector<Reading> readings(s_.fill_draws);
    for (std::size_t k = 0; k < fresh.size(); ++k) {
      for (std::size_t f = 0; f < s_.fill_draws; ++f)
        readings[f] = reading_(std::span(answers).subspan((k * s_.fill_draws + f) * outputs, outputs));
      add(fresh[k].grid, *fresh[k].coalition, readings);
    }
  }

  void evaluate(std::size_t grid, std::span<const Coalition> coalitions) {
    std::vector<Wanted> wanted;
    for (const Coalition& c : coalitions) wanted.push_back({grid, &c});
    evaluate(wanted);
  }

  // The mean loss, or minus the mean log-odds, over the fills.
  double mean(std::size_t grid, const Coalition& c, bool logit) const {
    const std::size_t fills = s_.fill_draws;
    const double* cell = cells_[grid].values.data() + places_[grid].at(c) * 2 * fills + (logit ? fills : 0);
    double sum = 0;
    for (std::size_t f = 0; f < fills; ++f) sum += cell[f];
    return sum / static_cast<double>(fills);
  }

  void search(std::size_t grid) {
    const SearchOptions options{.players = players(grid),
                                .budget = s_.plans[grid].search,
                                .seed = s_.request.seed,
                                .rounding = kImageTies};
    search_coalitions(options, [&](std::span<const Coalition> wanted) {
      evaluate(grid, wanted);
      std::vector<double> losses;
      for (const Coalition& c : wanted) losses.push_back(mean(grid, c, false));
      return losses;
    });
  }

  PatchValues values(std::size_t grid) const {
    return patch_values(players(grid), s_.plans[grid], cells_[grid].means(s_.fill_draws), workers_);
  }

  // Every pair of the strongest patches with all others out and with all others in.
  void ask_pairs(const std::vector<std::uint32_t>& top) {
    std::vector<Coalition> wanted;
    for (std::size_t a = 0; a < top.size(); ++a) {
      for (std::size_t b = a + 1; b < top.size(); ++b) {
        wanted.push_back(Coalition(players(0)).with(top[a]).with(top[b]));
        wanted.push_back(Coalition::full(players(0)).without(top[a]).without(top[b]));
      }
    }
    evaluate(0, wanted);
  }

  // S and R between regions, of the mixed difference at both ends.
  Json ask_regions(const std::vector<Region>& regions) {
    const std::size_t n = players(0);
    const auto united = [&](std::initializer_list<std::size_t> which, bool out) {
      Coalition c = out ? Coalition::full(n) : Coalition(n);
      for (const std::size_t r : which) {
        for (const std::uint32_t i : regions[r].players) out ? c.erase(i) : c.insert(i);
      }
      return c;
    };
    std::vector<Coalition> wanted;
    for (std::size_t a = 0; a < regions.size(); ++a) {
      for (const bool out : {false, true}) wanted.push_back(united({a}, out));
      for (std::size_t b = a + 1; b < regions.size(); ++b) {
        for (const bool out : {false, true}) wanted.push_back(united({a, b}, out));
      }
    }
    evaluate(0, wanted);
    Json list = Json::array();
    for (std::size_t a = 0; a < regions.size(); ++a) {
      for (std::size_t b = a + 1; b < regions.size(); ++b) {
        const auto reading = [&](bool logit) {
          const auto loss = [&](const Coalition& c) { return mean(0, c, logit); };
          const double at_empty = loss(united({a}, false)) + loss(united({b}, false)) -
                                  loss(united({a, b}, false)) - loss(Coalition(n));
          const double at_full = loss(united({a}, true)) + loss(united({b}, true)) -
                                 loss(Coalition::full(n)) - loss(united({a, b}, true));
          return Json{{"S", std::max({0.0, at_empty, at_full})},
                      {"R", std::max({0.0, -at_empty, -at_full})},
                      {"at_empty", at_empty},
                      {"at_full", at_full}};
        };
        Json pair = {{"regions", {a, b}}};
        pair.update(reading(false));
        pair["logit"] = reading(true);
        list.push_back(pair);
      }
    }
    return list;
  }

  // What the model says to the image, or to nothing but fill (the mean over fills).
  Json answer(std::span<const double> outputs) const {
    const std::size_t width = network_.outputs();
    const auto count = static_cast<double>(outputs.size() / width);
    double probability = 0;
    double logit = 0;
    for (std::size_t at = 0; at < outputs.size(); at += width) {
      const auto one = outputs.subspan(at, width);
      probability += reading_.probability(one).value_or(0) / count;
      logit += reading_(one).logit / count;
    }
    const bool known = reading_.probability(outputs.first(width)).has_value();
    return {
        {"probability", known ? Json(probability) : Json(nullptr)},
        {"logit", logit},
        {"class", s_.class_name(named_class(outputs.first(width), reading_.link, reading_.probabilities))}};
  }

  std::string details(const std::vector<double>& map, const std::vector<Region>& regions,
                      const Json& pairs) const {
    const ListedImage& listed = s_.list.images[image_];
    const auto names = [&](const std::vector<std::uint32_t>& list) {
      Json result = Json::array();
      for (const std::uint32_t i : list) result.push_back(s_.players[i]);
      return result;
    };
    std::uint64_t calls = 1;  // the image itself is shown once
    for (std::size_t g = 0; g < s_.offsets(); ++g)
      calls += (cells_[g].coalitions.size() - (g == 0 ? 1 : 2)) * s_.fill_draws;
    Json result = {{"image", listed.name},
                   {"class", s_.class_name(reading_.target)},
                   {"label", listed.label.empty() ? Json(nullptr) : Json(listed.label)},
                   {"calls", calls},
                   {"answer", {{"image", answer(full_)}, {"fill", answer(empty_)}}},
                   {"map", {{"name", kDefaultMap}, {"values", map}}},
                   {"regions", Json::array()},
                   {"region_pairs", pairs}};
    for (const Region& r : regions)
      result["regions"].push_back({{"seed", s_.players[r.seed]}, {"players", names(r.players)}});
    return result.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  const ImageSubject& s_;
  ImageNetwork& network_;
  Workers& workers_;
  std::size_t image_;
  std::vector<PatchSet> own_;
  const std::vector<PatchSet>& sets_;
  ImageInput input_;
  ClassReading reading_;
  std::vector<double> full_, empty_;  // raw answers
  std::vector<ImageCells> cells_;
  std::vector<std::unordered_map<Coalition, std::size_t, CoalitionHash>> places_;
};

}  // namespace

ImageRecord audit_image(const ImageSubject& subject, ImageNetwork& network, std::size_t image,
                        Workers& workers) {
  return ImageWork(subject, network, image, workers).run();
}

}  // namespace hifi
