#include "experiments/radiographs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/random.h"
#include "experiments/radiograph_parts.h"

namespace hifi {
namespace {

constexpr double kMiddle = kRadiographSize / 2.0;

struct Chest {
  Canvas canvas{kRadiographSize};
  std::array<Ellipse, 2> lungs;
};

template <typename Paint>
void paint(Canvas& canvas, Paint paint_at) {
  for (std::size_t y = 0; y < canvas.side; ++y)
    for (std::size_t x = 0; x < canvas.side; ++x)
      canvas.at(y, x) += paint_at(static_cast<double>(y), static_cast<double>(x));
}

Chest make_chest(RandomStream& random) {
  Chest chest;
  const double cy = kMiddle + 2 * bell(random), cx = kMiddle + 2 * bell(random);
  const Ellipse body{cy + 6, cx, 52, 38};
  paint(chest.canvas, [&](double y, double x) { return 0.06 + 0.5 * inside(body, y, x, 3); });
  for (std::size_t side = 0; side < 2; ++side) {
    const double sign = side == 0 ? -1 : 1;
    Ellipse& lung = chest.lungs[side];
    lung.y = cy + 1.5 * bell(random);
    lung.x = cx + sign * (18 + bell(random));
    lung.height = 30 + 2 * bell(random);
    lung.width = 13.5 + bell(random);
    const double depth = 0.27 + 0.02 * bell(random);
    paint(chest.canvas, [&](double y, double x) { return -depth * inside(lung, y, x, 2); });
  }
  const double phase = random.uniform(), period = between(random, 8, 10.5);
  const Ellipse cage{cy, cx, 40, 36}, heart{cy + 14, cx + 6, 16, 12};
  paint(chest.canvas, [&](double y, double x) {
    const double rib = std::max(0.0, wave((y + 0.012 * (x - cx) * (x - cx)) / period + phase));
    return 0.045 * rib * rib * inside(cage, y, x, 3) + 0.11 * inside(heart, y, x, 3);
  });
  add_texture(chest.canvas, random, 9, 0.04);
  return chest;
}

struct Place {
  double y = 0, x = 0;
  FindingBox box;
};

bool apart(const FindingBox& a, const FindingBox& b) {
  constexpr int kGap = 3;
  return a.x + a.width + kGap <= b.x || b.x + b.width + kGap <= a.x || a.y + a.height + kGap <= b.y ||
         b.y + b.height + kGap <= a.y;
}

// Within a lung, whole in the image, apart from what is there; absent if no place was found.
std::optional<Place> find_place(RandomStream& random, const Chest& chest, Finding finding, double radius,
                                const std::vector<FindingBox>& taken) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    const Ellipse& lung = chest.lungs[random.below(2)];
    const double v = between(random, -1, 1), u = between(random, -1, 1);
    if (v * v + u * u > 0.75) continue;
    Place place{.y = lung.y + v * lung.height, .x = lung.x + u * lung.width, .box = {}};
    const double left = std::floor(place.x - radius), top = std::floor(place.y - radius);
    const double right = std::ceil(place.x + radius), bottom = std::ceil(place.y + radius);
    if (left < 1 || top < 1 || right > kRadiographSize - 1 || bottom > kRadiographSize - 1) continue;
    place.box = {finding, static_cast<int>(left), static_cast<int>(top), static_cast<int>(right - left) + 1,
                 static_cast<int>(bottom - top) + 1};
    if (std::all_of(taken.begin(), taken.end(), [&](const FindingBox& box) { return apart(box, place.box); }))
      return place;
  }
  return std::nullopt;
}

bool add_finding(RandomStream& random, Chest& chest, Finding finding, std::vector<FindingBox>& boxes) {
  const double radius = between(random, finding == Finding::nodule ? 5 : 6, 9.5);
  const auto place = find_place(random, chest, finding, radius, boxes);
  if (!place) return false;
  const double strength = between(random, 0.15, 0.26);
  const double slant = random.below(2) == 0 ? -1 : 1;
  paint(chest.canvas, [&](double y, double x) {
    const double dy = y - place->y, dx = x - place->x, d = std::sqrt(dy * dy + dx * dx);
    if (d > radius + 1) return 0.0;  // nothing of a finding lies outside of its box
    if (finding == Finding::nodule) return strength * soft_step((radius - 1.5 - d) / 0.8);
    if (finding == Finding::cavity) {
      const double u = (d - (radius - 2)) / 2, bump = 1 / (1 + u * u);
      return strength * bump * bump * bump;
    }
    const double stripe = (x + slant * y) / 5.5;
    return stripe - std::floor(stripe) < 0.42 ? strength * soft_step((radius - 1 - d) / 0.5) : 0.0;
  });
  boxes.push_back(place->box);
  return true;
}

bool add_findings(RandomStream& random, Chest& chest, const Findings& findings,
                  std::vector<FindingBox>& boxes) {
  if (findings.cavity && !add_finding(random, chest, Finding::cavity, boxes)) return false;
  if (findings.streaks && !add_finding(random, chest, Finding::streaks, boxes)) return false;
  for (int i = 0; i < findings.nodules; ++i)
    if (!add_finding(random, chest, Finding::nodule, boxes)) return false;
  return true;
}

// Noise of the film, a tone curve and a gain that differ from image to image.
std::vector<std::uint8_t> develop(RandomStream& random, const Canvas& canvas) {
  const double curve = between(random, -0.25, 0.25), gain = between(random, 0.85, 1.15);
  std::vector<std::uint8_t> pixels;
  pixels.reserve(canvas.values.size());
  for (double value : canvas.values) {
    const double v = std::clamp(value + 0.022 * bell(random), 0.0, 1.0);
    const double developed = gain * (v + curve * v * (1 - v));
    pixels.push_back(static_cast<std::uint8_t>(std::floor(255 * std::clamp(developed, 0.0, 1.0) + 0.5)));
  }
  return pixels;
}

}  // namespace

Radiograph make_radiograph(std::uint64_t seed, std::uint64_t index, const Findings& findings) {
  RandomStream random(seed, Purpose::radiographs, index);
  while (true) {  // a chest in which the findings have no room is drawn again
    Chest chest = make_chest(random);
    Radiograph image;
    if (!add_findings(random, chest, findings, image.boxes)) continue;
    image.pixels = develop(random, chest.canvas);
    image.classes = {findings.nodules > 0, findings.cavity && findings.streaks};
    return image;
  }
}

Findings training_findings(std::uint64_t seed, std::uint64_t index) {
  RandomStream random(seed, Purpose::radiograph_kinds, index);
  constexpr int kNodules[] = {0, 0, 1, 2};
  constexpr bool kOthers[][2] = {{true, true}, {true, true}, {true, false}, {false, true}, {false, false}};
  Findings findings;
  findings.nodules = kNodules[random.below(4)];
  const auto& others = kOthers[random.below(5)];
  findings.cavity = others[0];
  findings.streaks = others[1];
  return findings;
}

std::string evidence_name(Evidence evidence) {
  switch (evidence) {
    case Evidence::single:
      return "single";
    case Evidence::redundant:
      return "redundant";
    case Evidence::combination:
      return "combination";
  }
  return "";
}

TestRadiograph make_test_radiograph(std::uint64_t seed, Evidence evidence, std::uint64_t index) {
  Findings findings;
  if (evidence == Evidence::combination) {
    findings = {.nodules = index % 3 == 2 ? 1 : 0, .cavity = true, .streaks = true};
  } else {
    findings = {
        .nodules = evidence == Evidence::single ? 1 : 2, .cavity = index % 3 == 1, .streaks = index % 3 == 2};
  }
  TestRadiograph test;
  test.evidence = evidence;
  test.name = fmt::format("{}_{:03d}", evidence_name(evidence), index);
  test.label = evidence == Evidence::combination ? 1 : 0;
  // Far from the indices of training images.
  const std::uint64_t kind = static_cast<std::uint64_t>(evidence) + 1;
  test.image = make_radiograph(seed, (kind << 40) + index, findings);
  for (const FindingBox& box : test.image.boxes)
    if ((box.finding == Finding::nodule) == (test.label == 0)) test.boxes.push_back(box);
  return test;
}

std::vector<TestRadiograph> make_test_radiographs(std::uint64_t seed, std::size_t per_kind) {
  std::vector<TestRadiograph> images;
  for (Evidence evidence : {Evidence::single, Evidence::redundant, Evidence::combination})
    for (std::size_t i = 0; i < per_kind; ++i) images.push_back(make_test_radiograph(seed, evidence, i));
  return images;
}

}  // namespace hifi
