#include "model/served_protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "data/text_column.h"
#include "hifi/error.h"

namespace hifi {

namespace {

using nlohmann::json;

struct NumberType {
  std::string_view name;
  TensorType type;
  double low, high;
};

// Whole numbers beyond 2^53 are no doubles, so they cannot come from a table.
constexpr double kWhole = 9007199254740992.0;
constexpr std::array<NumberType, 11> kTypes{{
    {"FP32", TensorType::fp32, -std::numeric_limits<float>::max(), std::numeric_limits<float>::max()},
    {"FP64", TensorType::fp64, -std::numeric_limits<double>::max(), std::numeric_limits<double>::max()},
    {"INT64", TensorType::whole, -kWhole, kWhole},
    {"INT32", TensorType::whole, -2147483648.0, 2147483647.0},
    {"INT16", TensorType::whole, -32768, 32767},
    {"INT8", TensorType::whole, -128, 127},
    {"UINT64", TensorType::whole, 0, kWhole},
    {"UINT32", TensorType::whole, 0, 4294967295.0},
    {"UINT16", TensorType::whole, 0, 65535},
    {"UINT8", TensorType::whole, 0, 255},
    {"BOOL", TensorType::boolean, 0, 1},
}};

std::vector<TensorInfo> parse_tensors(const json& metadata, const char* key) {
  std::vector<TensorInfo> result;
  if (!metadata.contains(key) || metadata[key].is_null()) return result;
  for (const json& tensor : metadata.at(key)) {
    std::vector<long long> shape;
    for (const json& size : tensor.at("shape")) shape.push_back(size.get<long long>());
    result.push_back(tensor_info(tensor.at("name").get<std::string>(),
                                 tensor.at("datatype").get<std::string>(), std::move(shape)));
  }
  return result;
}

std::string text(const std::string& name) {
  return json(name).dump(-1, ' ', false, json::error_handler_t::replace);
}

bool looks_like_html(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '<';
}

class RequestWriter {
 public:
  RequestWriter(const RequestForm& form, std::span<const double> rows, std::size_t count)
      : form_(form), rows_(rows), count_(count), recent_(form.width) {
    // 20 characters hold every number that a table is likely to have.
    text_.reserve(256 + 20 * rows.size() + 128 * form.inputs.size());
  }

  std::string write() && {
    text_ = "{\"inputs\":[";
    for (std::size_t t = 0; t < form_.inputs.size(); ++t) {
      if (t > 0) text_ += ',';
      tensor(t);
    }
    text_ += ']';
    if (!form_.output.empty()) text_ += ",\"outputs\":[{\"name\":" + text(form_.output) + "}]";
    text_ += '}';
    return std::move(text_);
  }

 private:
  void tensor(std::size_t t) {
    const TensorInfo& info = form_.inputs[t];
    const bool whole_row = form_.inputs.size() == 1;
    text_ += fmt::format("{{\"name\":{},\"shape\":[{}", text(info.name), count_);
    if (info.shape.size() > 1) text_ += fmt::format(",{}", whole_row ? form_.width : 1);
    text_ += fmt::format("],\"datatype\":\"{}\",\"data\":[", info.datatype);
    const std::size_t first = whole_row ? 0 : t;
    const std::size_t last = whole_row ? form_.width : t + 1;
    for (std::size_t row = 0; row < count_; ++row) {
      for (std::size_t c = first; c < last; ++c) {
        number(info, c, rows_[row * form_.width + c]);
        text_ += ',';
      }
    }
    text_.back() = ']';
    text_ += '}';
  }

  // A masked row takes each value from an instance or from a background row, so the last two texts of a
  // column nearly always serve again.
  void number(const TensorInfo& info, std::size_t column, double value) {
    Recent& recent = recent_[column];
    const auto bits = std::bit_cast<std::uint64_t>(value);
    std::size_t at = recent.bits[0] == bits ? 0 : 1;
    if (recent.bits[at] != bits || recent.size[at] == 0) {
      at = recent.next;
      recent.next = 1 - at;
      recent.size[at] = format(info, column, value, recent.text[at]);
      recent.bits[at] = bits;
    }
    text_.append(recent.text[at].data(), recent.size[at]);
  }

  using Digits = std::array<char, 32>;

  std::size_t format(const TensorInfo& info, std::size_t column, double value, Digits& out) const {
    const auto word = [&](std::string_view letters) {
      std::copy(letters.begin(), letters.end(), out.begin());
      return letters.size();
    };
    const auto digits = [&](auto number) {
      return static_cast<std::size_t>(std::to_chars(out.data(), out.data() + out.size(), number).ptr -
                                      out.data());
    };
    const bool fits = value >= info.low && value <= info.high;  // false for NaN
    const bool real = info.type == TensorType::fp32 || info.type == TensorType::fp64;
    // "-0" is a whole number to most readers, and loses its sign.
    if (real && value == 0 && std::signbit(value)) return word("-0.0");
    if (fits && info.type == TensorType::fp64) return digits(value);
    if (fits && info.type == TensorType::fp32) return digits(static_cast<float>(value));
    if (fits && info.type == TensorType::whole && value == std::floor(value)) {
      return digits(static_cast<long long>(value));
    }
    if (info.type == TensorType::boolean && (value == 0 || value == 1))
      return word(value == 1 ? "true" : "false");
    if (std::isnan(value) && real) return word("null");
    throw input_error(fmt::format(
        "column \"{}\" holds {}, which the server's input \"{}\" ({}) does not take",
        form_.columns.empty() ? std::to_string(column) : form_.columns[column],
        std::isnan(value) ? "a missing value" : fmt::format("{}", value), info.name, info.datatype));
  }

  struct Recent {
    std::array<std::uint64_t, 2> bits{};
    std::array<std::size_t, 2> size{};  // 0: none yet
    std::array<Digits, 2> text;
    std::size_t next = 0;
  };

  const RequestForm& form_;
  std::span<const double> rows_;
  std::size_t count_;
  std::string text_;
  std::vector<Recent> recent_;
};

// Reads an answer without building it in memory. Depth 1 is the answer, 2 the list of outputs, 3 an output,
// 4 and beyond its data.
class AnswerReader : public nlohmann::json_sax<json> {
 public:
  ServedAnswer answer;
  bool has_outputs = false;
  std::string problem;

  bool null() override { return value(std::numeric_limits<double>::quiet_NaN()); }
  bool boolean(bool v) override { return value(v ? 1 : 0); }
  bool number_integer(std::int64_t v) override { return value(static_cast<double>(v)); }
  bool number_unsigned(std::uint64_t v) override { return value(static_cast<double>(v)); }
  bool number_float(double v, const std::string&) override { return value(v); }
  bool binary(json::binary_t&) override { return false; }
  bool string(std::string& v) override {
    if (depth_ == 1 && top_ == "model_version") answer.model_version = v;
    if (in_output() && depth_ == 3 && field_ == "name") output().name = v;
    if (in_output() && depth_ == 3 && field_ == "datatype") output().datatype = v;
    if (in_output() && depth_ > 3 && field_ == "data") output().text = true;
    return true;
  }
  bool key(std::string& v) override {
    if (depth_ == 1) top_ = v;
    if (depth_ == 3) field_ = v;
    return true;
  }
  bool start_object(std::size_t) override {
    ++depth_;
    if (depth_ == 3 && top_ == "outputs") {
      answer.outputs.emplace_back();
      field_.clear();
    } else if (in_output() && depth_ > 4 && field_ == "data") {
      output().text = true;
    }
    return true;
  }
  bool start_array(std::size_t) override {
    ++depth_;
    if (depth_ == 2 && top_ == "outputs") has_outputs = true;
    return true;
  }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool parse_error(std::size_t position, const std::string& token, const json::exception&) override {
    problem = fmt::format("byte {} ({})", position, hifi::quoted(token));
    return false;
  }

 private:
  bool in_output() const { return top_ == "outputs" && !answer.outputs.empty(); }
  AnswerTensor& output() { return answer.outputs.back(); }
  bool end() {
    --depth_;
    return true;
  }
  bool value(double v) {
    if (depth_ < 4 || !in_output()) return true;
    if (field_ == "data") output().data.push_back(v);
    if (field_ == "shape") output().shape.push_back(v);
    return true;
  }

  int depth_ = 0;
  std::string top_;
  std::string field_;
};

}  // namespace

TensorInfo tensor_info(std::string name, std::string datatype, std::vector<long long> shape) {
  TensorInfo info{.name = std::move(name), .datatype = std::move(datatype), .shape = std::move(shape)};
  for (const NumberType& known : kTypes) {
    if (known.name != info.datatype) continue;
    info.type = known.type;
    info.low = known.low;
    info.high = known.high;
  }
  return info;
}

ServedMetadata parse_metadata(std::string_view text, const std::string& place) {
  try {
    const json metadata = json::parse(text);
    ServedMetadata result;
    metadata.at("name").get<std::string>();
    if (metadata.contains("platform") && metadata["platform"].is_string())
      result.platform = metadata["platform"];
    if (metadata.contains("versions") && metadata["versions"].is_array()) {
      for (const json& version : metadata["versions"]) {
        result.versions.push_back(version.is_string() ? version.get<std::string>() : version.dump());
      }
    }
    result.inputs = parse_tensors(metadata, "inputs");
    result.outputs = parse_tensors(metadata, "outputs");
    return result;
  } catch (const json::exception&) {
    throw input_error(
        fmt::format("{}: does not answer with the metadata of a model but with {}", place, complaint(text)),
        "the server must speak the Open Inference Protocol v2");
  }
}

std::string write_request(const RequestForm& form, std::span<const double> rows, std::size_t count) {
  return RequestWriter(form, rows, count).write();
}

ServedAnswer parse_answer(std::string_view text, const std::string& place) {
  AnswerReader reader;
  const bool read = json::sax_parse(text, &reader);
  if (read && reader.has_outputs) return std::move(reader.answer);
  throw model_error(fmt::format("{}: the answer is {}", place,
                                looks_like_html(text) ? "HTML, not JSON"
                                : text.empty()        ? "empty"
                                : read                ? "JSON without a list of outputs"
                                                      : fmt::format("broken JSON at {}", reader.problem)),
                    "the server must speak the Open Inference Protocol v2 in JSON");
}

std::string complaint(std::string_view body) {
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) return "nothing";
  if (looks_like_html(body)) return "HTML";
  const json object = json::parse(body, nullptr, false);
  if (object.is_object()) {
    for (const char* key : {"error", "detail", "message"}) {
      if (object.contains(key) && object[key].is_string()) return one_line(object[key].get<std::string>());
    }
  }
  return one_line(body);
}

}  // namespace hifi
