// Arrays in NumPy's own file format, version 1.0.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace hifi {

// The bytes of a .npy file of float32, row-major. REQUIRES: the shape's product is values.size()
std::string npy_bytes(std::span<const float> values, const std::vector<std::size_t>& shape);

}  // namespace hifi
