// `process:CMD`: the model is a program. It is run once per batch under `sh -c`; a CSV header and rows
// on its standard input, one line of numbers per row on its standard output.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/model.h"

namespace hifi {

// `columns` are what the program is sent; a trial run on their first row tells how many numbers it
// prints per row. REQUIRES: at least one row
std::unique_ptr<Model> open_process(const std::string& command, const std::vector<Column>& columns);

}  // namespace hifi
