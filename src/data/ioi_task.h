// Prompts of the indirect-object task (Wang et al. 2023, "Interpretability in the wild"): "When Mary and John
// had fun at the park, John gave a ring to" -> Mary, not John.
//
// All prompts of a task have one length and their names at the same positions, so that a mean over the
// reference prompts can be taken by position. Prompts come in pairs that differ by an exchange of the two
// names: with every head ablated their losses cancel. Pairs alternate between ABBA (answer first) and BABA
// (subject first) and go through the templates evenly. Reference prompts are ABC: three different names,
// nothing to infer. The grammar is models/ioi_grammar.json, compiled in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data/task_file.h"
#include "data/tokenizer.h"

namespace hifi {

struct IoiRequest {
  std::size_t prompts = 100;  // even
  std::size_t reference = 100;
  std::uint64_t seed = 0;
  bool held_out = false;  // only names and templates that models/train_ioi.py never showed together
};

// The same request and vocabulary give the same task. Roles are left empty. Throws Error(usage) for an odd
// number of prompts, Error(input) if the tokenizer splits the names.
Task ioi_task(const IoiRequest& request, const Tokenizer& tokenizer);

// Roles of heads in this task: those that the model's config.json has at task_specific_params.ioi.roles,
// those of the published circuit for a model of GPT-2-small's shape, else none. Throws Error(input) naming
// the field.
using Roles = std::vector<std::pair<std::string, std::vector<std::string>>>;
Roles ioi_roles(const std::string& model_folder);
// The published circuit of GPT-2-small, 26 heads in seven roles.
const Roles& published_ioi_roles();

}  // namespace hifi
