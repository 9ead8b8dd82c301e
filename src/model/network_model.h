// A network as a model of table rows: columns to inputs, fixed batch shape, one session per caller.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "model/model.h"
#include "model/network.h"

namespace hifi {

// `info` says path, format, hash and, where known, task, objective and labels; the rest is the network's.
// Several inputs of one number each are columns by name; otherwise inputs take the columns in order.
std::unique_ptr<Model> make_network_model(std::unique_ptr<Network> network, ModelInfo info);

// Files of networks as models; `columns` is the width of the table, for networks that leave theirs open.
std::unique_ptr<Model> open_onnx(const std::string& path, const std::string& content, std::size_t columns,
                                 const ModelOptions& options);
std::unique_ptr<Model> open_torchscript(const std::string& path, const std::string& content,
                                        std::size_t columns, const ModelOptions& options);
// A ZIP archive with code. Throws Error(input) for one with weights alone, which nothing can run.
bool looks_like_torchscript(std::string_view content, const std::string& path);

}  // namespace hifi
