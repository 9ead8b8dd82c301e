#include "data/task_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/files.h"
#include "core/hash.h"
#include "core/json_text.h"
#include "hifi/error.h"

namespace hifi {

namespace {

using nlohmann::ordered_json;

constexpr const char* kSchema = "hifi.task/1";

void refuse_unknown(const ordered_json& object, const std::set<std::string>& known,
                    const std::string& place) {
  for (const auto& [name, value] : object.items()) {
    if (known.contains(name)) continue;
    throw input_error(fmt::format("{}: unknown field \"{}\"", place, name),
                      fmt::format("the fields are {}", fmt::join(known, ", ")));
  }
}

Token token_of(const ordered_json& value, const std::string& place) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= INT32_MAX) return value.get<Token>();
  throw input_error(fmt::format("{}: {} is no token id", place, value.dump().substr(0, 40)));
}

class PromptReader {
 public:
  PromptReader(const Tokenizer* tokenizer, bool reference) : tokenizer_(tokenizer), reference_(reference) {}

  Prompt read(const ordered_json& value, const std::string& place) const {
    if (!value.is_object()) throw input_error(fmt::format("{}: is no object", place));
    refuse_unknown(value, {"text", "tokens", "answer", "distractor"}, place);
    if (value.contains("text") == value.contains("tokens")) {
      throw input_error(fmt::format("{}: needs either \"text\" or \"tokens\"", place));
    }
    Prompt prompt;
    prompt.tokens = value.contains("text") ? text(value["text"], place) : ids(value["tokens"], place);
    if (prompt.tokens.empty()) throw input_error(fmt::format("{}: has no tokens", place));
    if (value.contains("answer")) prompt.answer = word(value["answer"], place + " answer");
    if (value.contains("distractor")) prompt.distractor = word(value["distractor"], place + " distractor");
    if (prompt.answer == kNoToken && !reference_) throw input_error(fmt::format("{}: has no answer", place));
    return prompt;
  }

 private:
  void require_tokenizer(const std::string& place) const {
    if (tokenizer_ != nullptr) return;
    throw input_error(fmt::format("{}: is text, and the model has no vocab.json and merges.txt", place),
                      "put the tokenizer files beside the weights, or write token ids");
  }

  std::vector<Token> text(const ordered_json& value, const std::string& place) const {
    if (!value.is_string()) throw input_error(fmt::format("{}: text is no string", place));
    require_tokenizer(place);
    try {
      return tokenizer_->encode(value.get<std::string>());
    } catch (const Error& error) {
      throw input_error(fmt::format("{}: {}", place, error.what()));
    }
  }

  static std::vector<Token> ids(const ordered_json& value, const std::string& place) {
    if (!value.is_array()) throw input_error(fmt::format("{}: tokens are no list", place));
    std::vector<Token> tokens;
    for (const ordered_json& id : value) tokens.push_back(token_of(id, place));
    return tokens;
  }

  // An answer is one token: a name that splits has no logit of its own.
  Token word(const ordered_json& value, const std::string& place) const {
    if (!value.is_string()) return token_of(value, place);
    require_tokenizer(place);
    const std::vector<Token> tokens = text(value, place);
    if (tokens.size() == 1) return tokens.front();
    throw input_error(
        fmt::format("{}: \"{}\" splits into {} tokens", place, value.get<std::string>(), tokens.size()),
        "answers must be one token, mostly with a leading space");
  }

  const Tokenizer* tokenizer_;
  bool reference_;
};

std::vector<Prompt> read_prompts(const ordered_json& document, const char* field, const PromptReader& reader,
                                 const std::string& path) {
  std::vector<Prompt> prompts;
  if (!document.contains(field)) return prompts;
  if (!document[field].is_array()) throw input_error(fmt::format("{}: \"{}\" is no list", path, field));
  for (const ordered_json& value : document[field]) {
    prompts.push_back(reader.read(value, fmt::format("{}: {} {}", path, field, prompts.size() + 1)));
  }
  return prompts;
}

void read_roles(const ordered_json& roles, PromptTask& task) {
  if (!roles.is_object()) throw input_error(fmt::format("{}: \"roles\" is no object", task.source));
  for (const auto& [role, heads] : roles.items()) {
    if (!heads.is_array()) throw input_error(fmt::format("{}: role \"{}\" is no list", task.source, role));
    std::vector<std::string>& list = task.roles.emplace_back(role, std::vector<std::string>{}).second;
    for (const ordered_json& head : heads) {
      if (!head.is_string()) {
        throw input_error(fmt::format("{}: role \"{}\": heads are texts like \"9.6\"", task.source, role));
      }
      list.push_back(head.get<std::string>());
    }
  }
}

ordered_json prompts_json(const std::vector<Prompt>& prompts) {
  ordered_json list = ordered_json::array();
  for (const Prompt& prompt : prompts) {
    ordered_json& entry = list.emplace_back(ordered_json{{"tokens", prompt.tokens}});
    if (prompt.answer != kNoToken) entry["answer"] = prompt.answer;
    if (prompt.distractor != kNoToken) entry["distractor"] = prompt.distractor;
  }
  return list;
}

}  // namespace

bool PromptTask::aligned() const {
  const auto same = [&](const Prompt& p) { return p.tokens.size() == prompts.front().tokens.size(); };
  return std::all_of(prompts.begin(), prompts.end(), same) &&
         std::all_of(reference.begin(), reference.end(), same);
}

std::string PromptTask::hash() const {
  return hex_hash(prompts_json(prompts).dump() + prompts_json(reference).dump());
}

PromptTask read_task(const std::string& path, const Tokenizer* tokenizer) {
  const ordered_json document = parse_json<ordered_json>(read_file(path), path);
  if (!document.is_object()) throw input_error(fmt::format("{}: is no JSON object", path));
  refuse_unknown(document, {"schema", "prompts", "reference", "roles"}, path);
  if (!document.contains("schema") || document["schema"] != kSchema) {
    throw input_error(fmt::format("{}: is no task file", path),
                      fmt::format("its \"schema\" must be \"{}\"", kSchema));
  }
  PromptTask task{.source = path};
  task.prompts = read_prompts(document, "prompts", PromptReader(tokenizer, false), path);
  task.reference = read_prompts(document, "reference", PromptReader(tokenizer, true), path);
  if (task.prompts.empty()) throw input_error(fmt::format("{}: has no prompts", path));
  if (document.contains("roles")) read_roles(document["roles"], task);
  return task;
}

std::string task_to_json(const PromptTask& task) {
  ordered_json document = {{"schema", kSchema},
                           {"prompts", prompts_json(task.prompts)},
                           {"reference", prompts_json(task.reference)},
                           {"roles", ordered_json::object()}};
  for (const auto& [role, heads] : task.roles) document["roles"][role] = heads;
  return document.dump(1) + "\n";
}

void check_task(const PromptTask& task, std::size_t vocabulary, std::size_t context) {
  const auto check = [&](const std::vector<Prompt>& prompts, const char* kind) {
    for (std::size_t k = 0; k < prompts.size(); ++k) {
      const Prompt& prompt = prompts[k];
      const std::string place = fmt::format("{}: {} {}", task.source, kind, k + 1);
      const auto check_token = [&](Token token) {
        if (token >= 0 && static_cast<std::size_t>(token) < vocabulary) return;
        throw input_error(
            fmt::format("{}: token {} is outside of the model's vocabulary of {}", place, token, vocabulary));
      };
      for (const Token token : prompt.tokens) check_token(token);
      if (prompt.answer != kNoToken) check_token(prompt.answer);
      if (prompt.distractor != kNoToken) check_token(prompt.distractor);
      if (prompt.tokens.empty() || prompt.tokens.size() > context) {
        throw input_error(
            fmt::format("{}: has {} tokens, the model takes 1 to {}", place, prompt.tokens.size(), context));
      }
    }
  };
  check(task.prompts, "prompts");
  check(task.reference, "reference");
  std::set<std::string> seen;
  for (const auto& [role, heads] : task.roles) {
    for (const std::string& head : heads) {
      if (seen.insert(head).second) continue;
      throw input_error(fmt::format("{}: role \"{}\": head {} has a role already", task.source, role, head));
    }
  }
}

}  // namespace hifi
