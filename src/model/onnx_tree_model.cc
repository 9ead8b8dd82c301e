#include "model/onnx_tree_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/hash.h"
#include "hifi/error.h"
#include "model/onnx_program.h"

namespace hifi {

namespace onnx {
namespace {

constexpr std::size_t kBlockRows = 256;

class OnnxModel : public Model {
 public:
  OnnxModel(ModelInfo info, Program program) : info_(std::move(info)), program_(std::move(program)) {}

  const ModelInfo& info() const override { return info_; }

  void predict(std::span<const double> rows, std::size_t count, std::span<double> out) const override {
    if (rows.size() != count * info_.width || out.size() != count * info_.outputs) {
      throw Error(ErrorCode::bug, fmt::format("{}: predict() got arrays of the wrong size", info_.path));
    }
    std::vector<Cells> values = program_.make_values();
    for (std::size_t first = 0; first < count; first += kBlockRows) {
      const std::size_t block = std::min(kBlockRows, count - first);
      program_.fill_inputs(rows.data() + first * info_.width, block, values);
      program_.run(0, program_.steps.size(), block, values);
      std::copy_n(values[program_.output].begin(), block * info_.outputs, out.data() + first * info_.outputs);
    }
  }

 protected:
  ModelInfo info_;
  Program program_;
};

// One ensemble whose inputs come from one column each, and nothing behind it but functions of its sums.
class OnnxTrees : public OnnxModel, public TreeEnsemble {
 public:
  OnnxTrees(ModelInfo info, Program program)
      : OnnxModel(std::move(info), std::move(program)),
        linear_(program_.trees->rule.linear() &&
                program_.output == program_.steps[program_.tree_step + 1].output) {}

  Ensemble ensemble() const override {
    const ScoreRule& rule = program_.trees->rule;
    const double share = linear_ && rule.averaged != 0 ? 1.0 / static_cast<double>(rule.averaged) : 1.0;
    Ensemble ensemble = program_.trees->forest.ensemble(share);
    const Slot& input = tree_input();
    for (EnsembleTree& tree : ensemble.trees) {
      for (EnsembleTree::Split& split : tree.splits) {
        split.column = static_cast<std::uint32_t>(std::max(input.sources[split.column], 0));
      }
    }
    if (linear_ && !rule.base.empty()) ensemble.base = rule.base;
    ensemble.identity = linear_;
    return ensemble;
  }

  void decide(std::span<const double> rows, std::size_t count, std::span<std::uint8_t> right) const override {
    std::vector<Cells> values = program_.make_values();
    program_.fill_inputs(rows.data(), count, values);
    program_.run(0, program_.tree_step, count, values);
    program_.trees->forest.decide(values[program_.steps[program_.tree_step].inputs[0]].data(), count,
                                  right.data());
  }

  void transform(std::span<const double> margins, std::size_t count, std::span<double> out) const override {
    const std::size_t sums = program_.trees->rule.sums;
    const Step& walk = program_.steps[program_.tree_step];
    if (linear_) {
      std::copy(margins.begin(), margins.end(), out.begin());
      return;
    }
    std::vector<Cells> values = program_.make_values();
    Cells& raw = values[walk.output];
    raw.resize(count * sums);
    for (std::size_t g = 0; g < sums; ++g) {
      for (std::size_t r = 0; r < count; ++r) {
        raw[r * sums + g] = round_to(program_.slots[walk.output].type, margins[g * count + r]);
      }
    }
    program_.run(program_.tree_step + 1, program_.steps.size(), count, values);
    std::copy_n(values[program_.output].begin(), count * info_.outputs, out.begin());
  }

 private:
  const Slot& tree_input() const { return program_.slots[program_.steps[program_.tree_step].inputs[0]]; }

  bool linear_;  // the prediction is the sum, but for a factor and a constant
};

// The engine of whole lattices has as many predictions as sums.
bool suits_lattices(const Program& program) {
  if (program.tree_nodes != 1 || program.trees->forest.aggregate() != Aggregate::sum) return false;
  const Slot& input = program.slots[program.steps[program.tree_step].inputs[0]];
  if (std::ranges::find(input.sources, kManySources) != input.sources.end()) return false;
  if (program.slots[program.output].columns != program.trees->rule.sums) return false;
  // What comes behind the trees must not look at the rows again.
  for (std::size_t s = program.tree_step + 1; s < program.steps.size(); ++s) {
    for (const std::size_t i : program.steps[s].inputs) {
      const Slot& slot = program.slots[i];
      if (!slot.constant && !slot.from_trees) return false;
    }
  }
  return program.slots[program.output].from_trees;
}

// 0, 1, .. say nothing.
std::vector<std::string> telling_labels(const std::vector<std::string>& labels) {
  for (std::size_t k = 0; k < labels.size(); ++k) {
    if (labels[k] != fmt::format("{}", k)) return labels;
  }
  return {};
}

}  // namespace
}  // namespace onnx

std::unique_ptr<Model> load_onnx_trees(const std::string& path, std::string_view content,
                                       const onnx::Document& document, const ModelOptions& options,
                                       std::size_t columns) {
  using namespace onnx;
  Program program = compile(document, options.output, columns, path);
  const Slot& output = program.slots[program.output];
  ModelInfo info;
  info.path = path;
  info.format = "onnx-trees";
  info.hash = hex_hash(content);
  info.objective = fmt::format("output {}", shown(program.output_name));
  info.width = program.width;
  // Inputs of one column each are bound by their names.
  if (program.inputs.size() > 1 && program.width == program.inputs.size()) info.columns = program.input_names;
  const bool texts = std::ranges::any_of(program.categories, [](const auto& c) { return !c.empty(); });
  if (texts) info.categories = program.categories;
  info.outputs = output.columns;
  if (program.classifier && output.columns > 1) info.task = Task::classification;
  if (output.labels.size() == output.columns) info.labels = telling_labels(output.labels);
  if (program.trees == nullptr) {
    throw input_error(
        fmt::format("{}: output \"{}\" does not come from the trees", path, shown(program.output_name)),
        "choose another one by --output NAME");
  }
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const Slot& slot = program.slots[program.inputs[i]];
    const bool known = std::ranges::all_of(slot.sources, [&](std::int32_t c) {
      return !program.categories[static_cast<std::size_t>(c)].empty();
    });
    if (slot.type == Element::text && !known) {
      throw input_error(fmt::format("{}: input \"{}\" holds texts that no step of the graph encodes", path,
                                    shown(program.input_names[i])));
    }
  }
  if (suits_lattices(program)) return std::make_unique<OnnxTrees>(std::move(info), std::move(program));
  return std::make_unique<OnnxModel>(std::move(info), std::move(program));
}

}  // namespace hifi
