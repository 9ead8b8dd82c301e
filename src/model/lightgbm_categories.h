// The categories of pandas columns, which LightGBM's Python package appends to a model.
#pragma once

#include <string>
#include <vector>

#include "model/lightgbm_document.h"

namespace hifi::lightgbm {

// Per column, in code order; empty if no column has any. The file does not say to which columns the lists
// belong: they are the categorical ones, in their order. Throws Error(input) if there are more or fewer.
std::vector<std::vector<std::string>> read_categories(const Document& document, std::size_t width);

}  // namespace hifi::lightgbm
