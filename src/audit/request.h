// What the user asks for, as on the command line. Stored in the run file, so that a run can be resumed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hifi {

struct ExplainRequest {
  std::string model;
  std::string data;
  std::string target;  // may be empty for --loss prediction
  std::string background = "data";
  std::vector<std::string> features;
  std::string groups;  // path
  std::string loss;    // empty: by the model
  std::string link;    // empty, softmax or sigmoid
  std::string output;  // of a model that has several: name or index; empty: the one that suits
  std::string class_name;
  std::vector<std::string> classes;
  std::string cluster;
  std::string policy = "auto";
  bool exact = false;
  std::optional<std::uint64_t> budget;
  std::string time;       // empty, or like 5m: a budget by what the model manages in this time
  std::string precision;  // empty, or the widest interval allowed: a number, or like 2% of L({}) - L(all)
  bool per_instance = false;
  bool amortise = false;
  std::uint64_t seed = 0;
  std::string interval;  // empty: population from 20 instances on
  double confidence = 0.95;
  std::optional<std::size_t> batch;
  std::uint64_t max_memory = std::uint64_t{4} << 30;
  std::string expected = "loss";  // or prediction: the loss of the mean prediction over the background
  bool fast_lattice = true;       // whole lattices at once where the model allows it
  std::string check_predictions;
  std::vector<std::string> stress;  // other backgrounds that the audit is repeated under

  // Of circuits: `model` is a folder of the hub, `groups` names groups of heads.
  std::string task;                    // ioi or a path; empty: no circuit
  std::optional<std::size_t> prompts;  // of a generated task
  std::vector<std::string> heads;      // or all
  std::string ablation = "mean";       // or zero, resample
  std::string measure = "logit-difference";
  bool freeze_layernorm = false;

  std::string to_json() const;
  // Throws Error(input) naming `place` if the text is no request.
  static ExplainRequest from_json(const std::string& text, const std::string& place);
};

}  // namespace hifi
