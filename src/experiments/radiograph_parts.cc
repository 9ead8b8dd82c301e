#include "experiments/radiograph_parts.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hifi {

double soft_step(double x) { return 0.5 + 0.25 * x / std::sqrt(1 + 0.25 * x * x); }

double wave(double x) {
  const double t = x - std::floor(x);
  return t < 0.5 ? 16 * t * (0.5 - t) : -16 * (t - 0.5) * (1 - t);
}

double bell(RandomStream& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

double between(RandomStream& random, double low, double high) {
  return low + (high - low) * random.uniform();
}

double inside(const Ellipse& ellipse, double y, double x, double edge) {
  const double dy = (y - ellipse.y) / ellipse.height, dx = (x - ellipse.x) / ellipse.width;
  return soft_step((1 - std::sqrt(dy * dy + dx * dx)) * std::min(ellipse.height, ellipse.width) / edge);
}

namespace {

std::array<double, 4> catmull_rom(double t) {
  const double t2 = t * t, t3 = t2 * t;
  return {0.5 * (-t3 + 2 * t2 - t), 0.5 * (3 * t3 - 5 * t2 + 2), 0.5 * (-3 * t3 + 4 * t2 + t),
          0.5 * (t3 - t2)};
}

}  // namespace

void add_texture(Canvas& canvas, RandomStream& random, std::size_t cells, double size) {
  const std::size_t knots = cells + 3;
  std::vector<double> knot(knots * knots);
  for (double& value : knot) value = bell(random);
  for (std::size_t y = 0; y < canvas.side; ++y) {
    const double py = static_cast<double>(y * cells) / static_cast<double>(canvas.side);
    const auto cell_y = static_cast<std::size_t>(py);
    const auto wy = catmull_rom(py - static_cast<double>(cell_y));
    for (std::size_t x = 0; x < canvas.side; ++x) {
      const double px = static_cast<double>(x * cells) / static_cast<double>(canvas.side);
      const auto cell_x = static_cast<std::size_t>(px);
      const auto wx = catmull_rom(px - static_cast<double>(cell_x));
      double value = 0;
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 4; ++j) value += wy[i] * wx[j] * knot[(cell_y + i) * knots + cell_x + j];
      canvas.at(y, x) += size * value;
    }
  }
}

}  // namespace hifi
