// How far masked rows are from the data.
#pragma once

#include <cstdint>
#include <optional>

#include "masking/frame.h"
#include "masking/players.h"

namespace hifi {

// The mean distance of masked rows (a random instance, a random background row, a random coalition that is
// neither {} nor all) to the
// nearest row of the data, over the mean distance of data rows to the nearest other one: about 1 if masked
// rows look like data, larger the stranger they are. Columns are divided by their standard deviation;
// categories and missing values are at distance 0 or 1. No classifier is trained. Absent with fewer than 3
// rows, or if all rows are equal. At most 256 masked rows and 2,048 rows of the data are looked at, chosen by
// the seed.
std::optional<double> off_distribution(const Frame& data, const Frame& background,
                                       const InputColumns& columns, const Players& players,
                                       std::uint64_t seed);

}  // namespace hifi
