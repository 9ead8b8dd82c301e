// Indices as `hifi.indices/1`, as CSV, and as tables for a person.
#pragma once

#include <cstddef>
#include <string>

#include "hifi/indices.h"

namespace hifi {

std::string indices_json(const Indices& indices);
// One row per value: index, order, players joined by `;`, value, low, high.
std::string indices_csv(const Indices& indices);
// One table; sets by size and position, a column per index; at most `rows` sets of each size, the largest.
std::string indices_table(const Indices& indices, std::size_t rows = 30);

}  // namespace hifi
