// What a circuit is asked to do: prompts with their answers, reference prompts, and the roles of heads.
//
// As a file it is JSON of schema hifi.task/1:
//   {"schema":"hifi.task/1","prompts":[P..],"reference":[P..],"roles":{"Name-Mover":["9.9"]}}
//   P = {"text":"..","answer":" Mary","distractor":" John"} or {"tokens":[1,2],"answer":5,"distractor":7}
// The last position is read. Reference prompts need no answers; `reference` and `roles` may be left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data/tokenizer.h"

namespace hifi {

inline constexpr Token kNoToken = -1;

struct Prompt {
  std::vector<Token> tokens;
  Token answer = kNoToken;
  Token distractor = kNoToken;
  friend bool operator==(const Prompt&, const Prompt&) = default;
};

struct PromptTask {
  std::string source;  // path, or the name of a generated task
  std::vector<Prompt> prompts;
  std::vector<Prompt> reference;
  std::vector<std::uint32_t>
      clusters;  // of each prompt: those of one cluster are one observation. Empty: all are
  // Names of heads ("9.9") by role, in the order of the file.
  std::vector<std::pair<std::string, std::vector<std::string>>> roles;

  // All prompts, those of reference included, have one length.
  bool aligned() const;
  // Of everything that a result depends on: prompts and reference.
  std::string hash() const;
};

// `tokenizer` may be null: then prompts must be tokens. Throws Error(input) naming file and field: no task,
// unknown fields, text without a tokenizer, answers of several tokens, no prompts.
PromptTask read_task(const std::string& path, const Tokenizer* tokenizer);
std::string task_to_json(const PromptTask& task);

// Throws Error(input) naming the task and the prompt: a token outside of the vocabulary, a prompt that is
// empty or longer than the model's context; a head with two roles.
void check_task(const PromptTask& task, std::size_t vocabulary, std::size_t context);

}  // namespace hifi
