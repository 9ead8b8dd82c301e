// A neural network behind a plug-in (OpenVINO, libtorch): tensors in, numbers out.
//
// Nothing here knows tables: an input row may have any shape, so that images go the same way. All runs have
// one batch shape, because a network rounds differently for other shapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hifi {

enum class Element { f32, f64, i64 };
std::size_t element_bytes(Element element);

// One input or output, without its batch dimension.
struct Port {
  std::string name;
  Element element = Element::f32;
  std::vector<std::size_t> shape;  // of a row; empty: one number

  std::size_t size() const;  // numbers per row
};

struct NetworkInfo {
  std::vector<Port> inputs;
  Port output;
  std::size_t rows = 0;     // of every run
  std::string library;      // name and version
  std::string precision;    // of the arithmetic
  std::uint64_t bytes = 0;  // of one session, about
  std::vector<std::string> notes;
};

// What one caller at a time works with.
class NetworkSession {
 public:
  virtual ~NetworkSession() = default;
  // Room for info().rows rows of an input, row-major, in its own element type; stays where it is.
  virtual void* input(std::size_t port) = 0;
  // Runs all rows and writes the first `count` answers, count x output.size() numbers.
  virtual void run(std::size_t count, std::span<double> out) = 0;
};

class Network {
 public:
  virtual ~Network() = default;
  virtual const NetworkInfo& info() const = 0;
  // May be called from several threads at once.
  virtual std::unique_ptr<NetworkSession> session() const = 0;
};

struct NetworkOptions {
  std::string path;                // for messages
  std::string output;              // name or index; empty: the network's only one, or the plug-in's choice
  std::size_t rows = 0;            // of a run; 0: what suits the network
  std::vector<std::size_t> shape;  // of a row, where the network leaves it open
  std::uint64_t max_memory = 0;    // that a session may need; 0: no limit
};

struct OpenedNetwork {
  std::unique_ptr<Network> network;
  bool probabilities = false;       // its output, as far as the file says
  std::vector<std::string> labels;  // of the classes, as far as the file says
  std::string made_by;              // the operator that gives the output; empty: the file does not tell
  bool linear = false;              // a linear layer: its output has no range
};

// Throws Error(input) that names --batch if a session of so many bytes is more than the options allow.
void check_session_memory(std::uint64_t bytes, std::size_t rows, const NetworkOptions& options);

// ONNX through OpenVINO, TorchScript through libtorch. Throw Error(input): a broken file, an operator that
// cannot run (named), a shape that cannot be bound, no such output.
OpenedNetwork open_onnx_network(const std::string& content, const NetworkOptions& options);
OpenedNetwork open_torch_network(const std::string& content, const NetworkOptions& options);

}  // namespace hifi
