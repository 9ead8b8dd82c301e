// A model behind the Open Inference Protocol v2: http[s]://host[:port]/v2/models/NAME[/versions/V].
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/model.h"

namespace hifi {

// `columns` are those of the table that may go to the model. Its metadata says how they are bound: one input
// of [-1, n] by order, several of [-1] or [-1, 1] by name; a server that declares no inputs is sent them all.
// A trial on the first rows tells how many numbers it answers per row. REQUIRES: at least one row
std::unique_ptr<Model> open_served(const std::string& spec, const std::vector<Column>& columns,
                                   const ModelOptions& options);

}  // namespace hifi
