// The Open Inference Protocol v2 in JSON: what a model says of itself, requests, answers. No network here.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hifi {

enum class TensorType { fp32, fp64, whole, boolean, other };

struct TensorInfo {
  std::string name;
  std::string datatype;  // "FP64"
  TensorType type = TensorType::other;
  double low = 0, high = 0;  // of what it holds
  std::vector<long long> shape;
};

// Type and range by the protocol's name; `other` for what is no number in JSON (BYTES, FP16).
TensorInfo tensor_info(std::string name, std::string datatype, std::vector<long long> shape);

struct ServedMetadata {
  std::string platform;
  std::vector<std::string> versions;
  std::vector<TensorInfo> inputs;  // may be empty: not every server knows
  std::vector<TensorInfo> outputs;
};

// Throws Error(input) naming `place` if the text is no metadata.
ServedMetadata parse_metadata(std::string_view text, const std::string& place);

// How columns go into tensors: one of [rows, width], or one per column.
struct RequestForm {
  std::vector<TensorInfo> inputs;
  std::size_t width = 0;
  std::string output;                // the only one to ask for; empty: whatever the server gives
  std::vector<std::string> columns;  // for messages
};

// Numbers are the shortest texts that read back (as floats for FP32); a missing value is null.
// Throws Error(input) naming the column of a value that its type cannot hold.
std::string write_request(const RequestForm& form, std::span<const double> rows, std::size_t count);

struct AnswerTensor {
  std::string name;
  std::string datatype;
  std::vector<double> shape;
  std::vector<double> data;  // row-major, also if it came as lists of lists; null is NaN
  bool text = false;         // holds something that is no number
};

struct ServedAnswer {
  std::vector<AnswerTensor> outputs;
  std::string model_version;
};

// Throws Error(model) naming `place` if the text is no answer.
ServedAnswer parse_answer(std::string_view text, const std::string& place);

// What the body of a refusal says, on one line: its "error", or that it is HTML, or its beginning.
std::string complaint(std::string_view body);

}  // namespace hifi
