// Shapes that synthetic radiographs are painted with: no transcendental functions, so that a machine's
// mathematical library has no say in the pixels.
#pragma once

#include <cstddef>
#include <vector>

#include "core/random.h"

namespace hifi {

// A square of doubles, row-major.
struct Canvas {
  explicit Canvas(std::size_t side) : side(side), values(side * side, 0.0) {}
  double& at(std::size_t y, std::size_t x) { return values[y * side + x]; }
  std::size_t side;
  std::vector<double> values;
};

struct Ellipse {
  double y = 0, x = 0, height = 1, width = 1;  // centre and half axes
};

// From 0 to 1, 1/2 at 0, slope 1/4 there as the logistic function has.
double soft_step(double x);

// A sine-like wave of period 1 between -1 and 1, of two parabolas.
double wave(double x);

// Sum of twelve uniform numbers less six: mean 0, variance 1, and no logarithm.
double bell(RandomStream& random);
double between(RandomStream& random, double low, double high);

// 1 inside, 0 outside, `edge` pixels wide between them.
double inside(const Ellipse& ellipse, double y, double x, double edge);

// Adds smooth noise of `cells` x `cells` cells (Catmull-Rom between random knots).
void add_texture(Canvas& canvas, RandomStream& random, std::size_t cells, double size);

}  // namespace hifi
