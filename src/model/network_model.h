// A network as a model of table rows: columns to inputs, fixed batch shape, one session per caller.
#pragma once

#include <memory>

#include "model/model.h"
#include "model/network.h"

namespace hifi {

// `info` says path, format, hash and, where known, task, objective and labels; the rest is the network's.
// Several inputs of one number each are columns by name; otherwise inputs take the columns in order.
std::unique_ptr<Model> make_network_model(std::unique_ptr<Network> network, ModelInfo info);

}  // namespace hifi
