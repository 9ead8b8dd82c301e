#include "model/served_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/hash.h"
#include "data/text_column.h"
#include "hifi/error.h"
#include "model/served_link.h"
#include "model/served_protocol.h"
#include "model/served_url.h"

namespace hifi {

namespace {

constexpr std::size_t kMostRows = 4'096;         // of a request
constexpr std::size_t kMostNumbers = 1U << 17U;  // of a request: about two megabytes
constexpr std::size_t kRequestsPerCall = 8;      // identical rows are removed from so many at once
constexpr std::size_t kTrialBytes = 16U << 20U;
constexpr std::size_t kBytesPerNumber = 64;
constexpr double kSameModel = 1e-6;  // replicas may round differently

std::string names_of(const auto& tensors) {
  std::vector<std::string> names;
  for (const auto& tensor : tensors) names.push_back(hifi::quoted(tensor.name));
  return fmt::format("{}", fmt::join(names, ", "));
}

class ServedModel : public Model {
 public:
  ServedModel(const std::string& spec, const std::vector<Column>& columns, const ModelOptions& options)
      : link_(served_url(spec), ServedSettings::from_environment()) {
    info_.path = link_.url();
    info_.format = "served";
    ServedMetadata metadata;
    link_.ask(
        "", 1, true, [](std::size_t) { return ServedLink::Question{.max_bytes = kTrialBytes}; },
        [&](std::size_t, const std::string& body) { metadata = parse_metadata(body, info_.path); });
    bind(metadata, columns);
    const std::size_t fitting = std::clamp<std::size_t>(kMostNumbers / info_.width, 1, kMostRows);
    request_rows_ = options.batch.value_or(fitting);
    info_.batch_rows = kRequestsPerCall * request_rows_;
    info_.splits_batches = true;
    choose_output(metadata, options.output);
    try_out(columns, options.output);
    info_.hash = fingerprint(metadata);
  }

  const ModelInfo& info() const override { return info_; }

  void predict(std::span<const double> rows, std::size_t count, std::span<double> out) const override {
    if (count == 0) return;
    const bool lost = send(rows, count, out);
    if (lost) check_same_model();
  }

 private:
  void bind(const ServedMetadata& metadata, const std::vector<Column>& columns);
  void choose_output(const ServedMetadata& metadata, const std::string& wanted);
  void try_out(const std::vector<Column>& columns, const std::string& wanted);
  void try_missing(const std::vector<Column>& columns);
  AnswerTensor ask_trial(std::span<const double> rows, std::size_t count, const std::string& wanted);
  const AnswerTensor& select(const ServedAnswer& answer, const std::string& wanted);
  bool send(std::span<const double> rows, std::size_t count, std::span<double> out) const;
  void read(const std::string& body, std::size_t count, std::span<double> out) const;
  void check_same_model() const;
  std::vector<double> row_of(const std::vector<Column>& columns, std::size_t row) const;
  std::string fingerprint(const ServedMetadata& metadata) const;

  [[noreturn]] void unfit(const std::string& what, const std::string& hint = "") const {
    throw input_error(fmt::format("{}: {}", info_.path, what), hint);
  }
  [[noreturn]] void wrong(const std::string& what) const {
    throw model_error(fmt::format("{}: {}", info_.path, what));
  }

  mutable ServedLink link_;
  ModelInfo info_;
  RequestForm form_;
  std::size_t request_rows_ = 0;
  std::string output_;   // the one that is read; may be all that there is and have any name
  std::string version_;  // that answered the trial
  bool float32_ = false;
  std::vector<double> trial_rows_, trial_answer_;
};

void ServedModel::bind(const ServedMetadata& metadata, const std::vector<Column>& columns) {
  form_.inputs = metadata.inputs;
  // mlserver's name for a lone tensor; servers without metadata take any.
  if (form_.inputs.empty()) form_.inputs = {tensor_info("input-0", "FP64", {-1, -1})};
  for (const TensorInfo& input : form_.inputs) {
    if (input.type == TensorType::other) {
      unfit(fmt::format("input \"{}\" has datatype {}", input.name, input.datatype),
            "known are FP32, FP64, INT8 to INT64, UINT8 to UINT64 and BOOL");
    }
    const bool several = form_.inputs.size() > 1;
    const bool batch = !input.shape.empty() && input.shape[0] == -1;
    const bool flat = input.shape.size() == 1 || (input.shape.size() == 2 && input.shape[1] == 1);
    const bool rows = input.shape.size() == 2 && (input.shape[1] == -1 || input.shape[1] > 0);
    if (batch && (flat || (rows && !several))) continue;
    unfit(fmt::format("input \"{}\" has shape [{}]", input.name, fmt::join(input.shape, ", ")),
          several ? "several inputs must be columns of shape [-1] or [-1, 1]"
                  : "an input must be rows of shape [-1, n]");
  }
  const TensorInfo& first = form_.inputs[0];
  const auto is_column = [&](const Column& column) { return column.name == first.name; };
  const long long size = first.shape.size() == 1 ? 1 : first.shape[1];
  if (form_.inputs.size() > 1) {
    for (const TensorInfo& input : form_.inputs) info_.columns.push_back(input.name);
  } else if (size == -1) {
    for (const Column& column : columns) info_.columns.push_back(column.name);
  } else if (size == 1 && std::any_of(columns.begin(), columns.end(), is_column)) {
    info_.columns = {first.name};
  }
  info_.width = info_.columns.empty() ? static_cast<std::size_t>(size) : info_.columns.size();
  form_.width = info_.width;
  form_.columns = info_.columns;
  for (std::size_t c = 0; c < info_.width; ++c) {
    const TensorInfo& input = form_.inputs[form_.inputs.size() > 1 ? c : 0];
    const bool number = input.type == TensorType::fp32 || input.type == TensorType::fp64;
    info_.accepts.push_back(
        {.type = input.datatype, .low = input.low, .high = input.high, .whole = !number, .missing = number});
  }
}

// By what the server declares; what it does not declare is known after the trial.
void ServedModel::choose_output(const ServedMetadata& metadata, const std::string& wanted) {
  const auto& outputs = metadata.outputs;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), index);
  const bool is_index = !wanted.empty() && error == std::errc() && end == wanted.data() + wanted.size();
  const bool is_name =
      std::any_of(outputs.begin(), outputs.end(), [&](const auto& output) { return output.name == wanted; });
  if (is_index && !is_name && !outputs.empty()) {
    if (index >= outputs.size()) {
      unfit(fmt::format("--output {}: there are {} outputs", wanted, outputs.size()),
            fmt::format("they are {}, counted from 0", names_of(outputs)));
    }
    form_.output = outputs[index].name;
  } else if (!is_index || is_name) {
    form_.output = wanted;  // also one that is not declared: servers may know more than they say
  }
  if (!wanted.empty() || outputs.size() < 2) return;
  ServedAnswer declared;
  for (const TensorInfo& output : outputs) declared.outputs.push_back({.name = output.name});
  form_.output = select(declared, "").name;
}

// One of several outputs: the wanted one by index (names have been asked for by name), else the only one,
// else the only one that is called probabilities.
const AnswerTensor& ServedModel::select(const ServedAnswer& answer, const std::string& wanted) {
  const auto& outputs = answer.outputs;
  if (outputs.empty()) wrong("the answer has no outputs");
  if (!form_.output.empty()) {
    for (const AnswerTensor& output : outputs) {
      if (output.name == form_.output) return output;
    }
    unfit(fmt::format("--output {}: is not among the outputs of the answer", form_.output),
          fmt::format("they are {}", names_of(outputs)));
  }
  if (!wanted.empty()) {
    std::size_t index = 0;
    std::from_chars(wanted.data(), wanted.data() + wanted.size(), index);
    if (index < outputs.size()) return outputs[index];
    unfit(fmt::format("--output {}: the answer has {} outputs", wanted, outputs.size()),
          fmt::format("they are {}, counted from 0", names_of(outputs)));
  }
  if (outputs.size() == 1) return outputs[0];
  std::vector<const AnswerTensor*> probable;
  for (const AnswerTensor& output : outputs) {
    std::string name = output.name;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (name.find("prob") != std::string::npos) probable.push_back(&output);
  }
  if (probable.size() == 1) return *probable[0];
  unfit(fmt::format("has {} outputs: {}", outputs.size(), names_of(outputs)),
        "choose one with --output NAME");
}

// Text and columns that the table lacks are 0 here: the table is checked later.
std::vector<double> ServedModel::row_of(const std::vector<Column>& columns, std::size_t row) const {
  std::vector<double> result;
  for (std::size_t c = 0; c < info_.width; ++c) {
    const Column* column = nullptr;
    if (info_.columns.empty()) {
      if (columns.size() == info_.width) column = &columns[c];
    } else {
      for (const Column& candidate : columns) {
        if (candidate.name == info_.columns[c]) column = &candidate;
      }
    }
    const double value = column == nullptr || column->type == ColumnType::text ? 0 : column->values.at(row);
    const bool missing = std::isnan(value) && info_.accepts[c].missing;
    result.push_back(missing || info_.accepts[c].takes(value) ? value : 0);
  }
  return result;
}

AnswerTensor ServedModel::ask_trial(std::span<const double> rows, std::size_t count,
                                    const std::string& wanted) {
  AnswerTensor chosen;
  link_.ask(
      "/infer", 1, true,
      [&](std::size_t) {
        return ServedLink::Question{.body = write_request(form_, rows, count), .max_bytes = kTrialBytes};
      },
      [&](std::size_t, const std::string& body) {
        const ServedAnswer answer = parse_answer(body, info_.path);
        version_ = answer.model_version;
        chosen = select(answer, wanted);
      });
  return chosen;
}

// Two rows, so that a list of numbers per row is told from a list of rows.
void ServedModel::try_out(const std::vector<Column>& columns, const std::string& wanted) {
  constexpr std::size_t kRows = 2;
  const auto without_missing = [&](std::size_t row) {
    std::vector<double> values = row_of(columns, row);
    for (double& value : values) value = std::isnan(value) ? 0 : value;
    return values;
  };
  trial_rows_ = without_missing(0);
  const std::vector<double> second = without_missing(columns[0].values.size() > 1 ? 1 : 0);
  trial_rows_.insert(trial_rows_.end(), second.begin(), second.end());
  const AnswerTensor answer = ask_trial(trial_rows_, kRows, wanted);
  if (answer.text || tensor_info("", answer.datatype, {}).type == TensorType::other) {
    unfit(fmt::format("output \"{}\" has datatype {}", answer.name, answer.datatype),
          "choose an output of numbers with --output NAME");
  }
  output_ = answer.name;
  float32_ = answer.datatype == "FP32";
  info_.objective = fmt::format("{} {}", answer.name, answer.datatype);
  info_.tie_tolerance = float32_ ? info_.tie_tolerance : 1e-9;
  info_.outputs = std::max<std::size_t>(1, answer.data.size() / kRows);
  if (info_.outputs > 1) info_.task = Task::classification;
  trial_answer_.resize(kRows * info_.outputs);
  send(trial_rows_, kRows, trial_answer_);
  try_missing(columns);
}

// A missing value has no JSON number: it is sent as null, which not every model takes.
void ServedModel::try_missing(const std::vector<Column>& columns) {
  for (std::size_t row = 0; row < columns[0].values.size(); ++row) {
    const std::vector<double> values = row_of(columns, row);
    const auto missing = std::find_if(values.begin(), values.end(), [](double v) { return std::isnan(v); });
    if (missing == values.end()) continue;
    try {
      ask_trial(values, 1, "");
    } catch (const Error& error) {
      if (error.code() == ErrorCode::interrupted) throw;
      const auto c = static_cast<std::size_t>(missing - values.begin());
      unfit(fmt::format("does not take missing values (null), which column \"{}\" has in data row {}: {}",
                        info_.columns.empty() ? columns[c].name : info_.columns[c], row + 1,
                        std::string_view(error.what())
                            .substr(std::min(info_.path.size() + 2, std::string_view(error.what()).size()))),
            "fill them in before, in the table and in the background");
    }
    return;
  }
}

bool ServedModel::send(std::span<const double> rows, std::size_t count, std::span<double> out) const {
  const std::size_t requests = (count + request_rows_ - 1) / request_rows_;
  const std::size_t size = (count + requests - 1) / requests;  // even shares
  const auto share = [&](std::size_t k) { return std::min(size, count - k * size); };
  const std::size_t all = (count + size - 1) / size;
  return link_.ask(
      "/infer", all, false,
      [&](std::size_t k) {
        const auto part = rows.subspan(k * size * info_.width, share(k) * info_.width);
        return ServedLink::Question{.body = write_request(form_, part, share(k)),
                                    .max_bytes = (1U << 20U) + kBytesPerNumber * share(k) * info_.outputs};
      },
      [&](std::size_t k, const std::string& body) {
        read(body, share(k), out.subspan(k * size * info_.outputs, share(k) * info_.outputs));
      });
}

void ServedModel::read(const std::string& body, std::size_t count, std::span<double> out) const {
  const ServedAnswer answer = parse_answer(body, info_.path);
  if (answer.model_version != version_) {
    wrong(fmt::format("version \"{}\" answers, it was \"{}\" before", one_line(answer.model_version),
                      one_line(version_)));
  }
  const auto found = std::find_if(answer.outputs.begin(), answer.outputs.end(),
                                  [&](const AnswerTensor& output) { return output.name == output_; });
  if (found == answer.outputs.end()) wrong(fmt::format("the answer has no output \"{}\"", output_));
  if (found->text) wrong(fmt::format("output \"{}\" holds something that is no number", output_));
  const bool shaped = !found->shape.empty() && found->shape[0] == static_cast<double>(count);
  if (found->data.size() != out.size() || !shaped) {
    wrong(fmt::format("output \"{}\" has shape [{}] and {} numbers for {} rows, each should have {}", output_,
                      fmt::join(found->shape, ", "), found->data.size(), count, info_.outputs));
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double value = found->data[i];
    out[i] = float32_ ? static_cast<double>(static_cast<float>(value)) : value;
    if (std::isfinite(out[i])) continue;
    wrong(fmt::format("output \"{}\" is {} for row {} of a request of {}", output_,
                      std::isnan(value) ? "null" : fmt::format("{}", value), i / info_.outputs + 1, count));
  }
}

// After a lost connection: what came back must be the model that was there before.
void ServedModel::check_same_model() const {
  std::vector<double> answer(trial_answer_.size());
  send(trial_rows_, answer.size() / info_.outputs, answer);
  for (std::size_t i = 0; i < answer.size(); ++i) {
    const double before = trial_answer_[i];
    if (std::abs(answer[i] - before) <= kSameModel * std::max(1.0, std::abs(before))) continue;
    wrong(fmt::format("another model came back: data row {} gets {}, it got {} before", i / info_.outputs + 1,
                      answer[i], before));
  }
}

// What it says of itself and what it answers, to six digits; versions if the address does not name one.
std::string ServedModel::fingerprint(const ServedMetadata& metadata) const {
  std::string text = metadata.platform;
  if (info_.path.find("/versions/") == std::string::npos) {
    text += fmt::format(" {}", fmt::join(metadata.versions, " "));
  }
  for (const TensorInfo& input : form_.inputs) {
    text += fmt::format(" {} {} {}", input.name, input.datatype, fmt::join(input.shape, " "));
  }
  text += fmt::format(" -> {} {} {}", info_.objective, info_.outputs, version_);
  for (const double value : trial_answer_) text += fmt::format(" {:.6g}", value);
  return hex_hash(text);
}

}  // namespace

std::unique_ptr<Model> open_served(const std::string& spec, const std::vector<Column>& columns,
                                   const ModelOptions& options) {
  return std::make_unique<ServedModel>(spec, columns, options);
}

}  // namespace hifi
