// A map laid over its image.
#pragma once

#include <span>
#include <vector>

#include "data/image.h"
#include "data/recipe.h"

namespace hifi {

// The image in grey, red where the map is positive and blue where it is negative, as strong as the number is
// large; boxes as yellow frames. Small images are enlarged. `map` has one number per pixel.
Image overlay(const Planes& image, std::span<const float> map, const std::vector<Box>& boxes);

}  // namespace hifi
