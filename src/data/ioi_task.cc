#include "data/ioi_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "core/random.h"
#include "data/ioi_grammar.h"
#include "hifi/error.h"

namespace hifi {

namespace {

using Strings = std::vector<std::string>;

// OPENER A and B SCENE LINK S GIFT
struct Template {
  std::string opener, link, scene, gift;
  bool held_out = false;
};

struct Grammar {
  std::vector<Template> templates;
  Strings places, objects, names;
};

// Rules of models/ioi_text.py: what training never showed together.
bool held_out_template(std::size_t opener, std::size_t scene, std::size_t gift) {
  return (opener + 2 * scene + 3 * gift) % 10 == 0 || (scene == 5 && gift == 1);
}
bool held_out_pair(std::size_t i, std::size_t j) { return (i + j) % 5 == 0; }

Grammar read_grammar() {
  const auto json = nlohmann::json::parse(kIoiGrammar);
  Grammar grammar{.places = json.at("places"), .objects = json.at("objects"), .names = json.at("names")};
  const Strings scenes = json.at("scenes"), gifts = json.at("gifts");
  std::size_t number = 0;  // of the opener, over all frames
  for (const auto& frame : json.at("frames")) {
    for (const std::string opener : frame.at("openers")) {
      for (const std::string link : frame.at("links")) {
        for (std::size_t s = 0; s < scenes.size(); ++s) {
          for (std::size_t g = 0; g < gifts.size(); ++g) {
            grammar.templates.push_back({opener, link, scenes[s], gifts[g], held_out_template(number, s, g)});
          }
        }
      }
      ++number;
    }
  }
  return grammar;
}

std::string fill(std::string text, const std::string& place, const std::string& object) {
  for (const auto& [hole, word] : {std::pair{"{place}", &place}, std::pair{"{object}", &object}}) {
    const std::string name = hole;
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name)) {
      text.replace(at, name.size(), *word);
    }
  }
  return text;
}

class Generator {
 public:
  Generator(const IoiRequest& request, const Tokenizer& tokenizer)
      : request_(request),
        tokenizer_(tokenizer),
        grammar_(read_grammar()),
        bos_(tokenizer.single("<|endoftext|>")) {
    for (std::size_t i = 0; i < grammar_.names.size(); ++i) {
      const Token token = tokenizer.single(" " + grammar_.names[i]);
      if (token >= 0) names_.push_back({i, token});
    }
    // Three of one prompt, and others to tell them from.
    if (names_.size() < 6) refuse("names", grammar_.names);
    keep_single("places", grammar_.places);
    keep_single("objects", grammar_.objects);
    for (std::size_t a = 0; a < names_.size(); ++a) {
      for (std::size_t b = a + 1; b < names_.size(); ++b) {
        if (!request.held_out || held_out_pair(names_[a].number, names_[b].number)) pairs_.push_back({a, b});
      }
    }
    choose_templates();
  }

  PromptTask make() const {
    PromptTask task{.source = "ioi"};
    for (std::size_t k = 0; k < request_.prompts / 2; ++k) {
      RandomStream random(request_.seed, Purpose::ioi_prompts, k);
      auto [io, subject] = pairs_[random.below(pairs_.size())];
      if (random.below(2) == 1) std::swap(io, subject);
      // The second time round every template has the other order.
      const std::size_t round = k / templates_.size(), turn = k % templates_.size();
      const bool answer_first = (turn + round) % 2 == 0;
      const auto [place, object] = fillers(random);
      for (int exchanged = 0; exchanged < 2; ++exchanged) {
        const auto first = answer_first ? io : subject, second = answer_first ? subject : io;
        task.prompts.push_back({.tokens = tokens(*templates_[turn], {first, second, subject}, place, object),
                                .answer = names_[io].token,
                                .distractor = names_[subject].token});
        task.clusters.push_back(static_cast<std::uint32_t>(k));  // a pair is one observation
        std::swap(io, subject);
      }
    }
    // The reference has the templates of the prompts.
    const std::size_t used = std::min(request_.prompts / 2, templates_.size());
    for (std::size_t k = 0; k < request_.reference; ++k) {
      RandomStream random(request_.seed, Purpose::ioi_reference, k);
      const auto order = random.permutation(names_.size());
      const auto [place, object] = fillers(random);
      task.reference.push_back(
          {.tokens = tokens(*templates_[k % used], {order[0], order[1], order[2]}, place, object)});
    }
    return task;
  }

 private:
  struct Name {
    std::size_t number;  // in the grammar
    Token token;
  };

  [[noreturn]] static void refuse(const char* what, const Strings& words) {
    throw input_error(
        fmt::format("--task ioi: the model's tokenizer splits the {} (\" {}\", ..) into several tokens", what,
                    words.front()),
        "give a task file with names that are single tokens");
  }

  void keep_single(const char* what, Strings& words) const {
    Strings kept;
    std::copy_if(words.begin(), words.end(), std::back_inserter(kept),
                 [&](const std::string& word) { return tokenizer_.single(" " + word) >= 0; });
    if (kept.empty()) refuse(what, words);
    words = kept;
  }

  // The templates whose parts agree in their numbers of tokens; the largest such set, of equal ones the
  // first.
  void choose_templates() {
    std::map<std::vector<std::size_t>, std::vector<const Template*>> by_shape;
    std::vector<const Template*>* largest = nullptr;
    for (const Template& t : grammar_.templates) {
      std::vector<std::size_t> shape;
      for (const std::string& part : {t.opener, " " + t.scene, "x" + t.link, " " + t.gift}) {
        shape.push_back(tokenizer_.encode(fill(part, grammar_.places[0], grammar_.objects[0])).size());
      }
      by_shape[shape].push_back(&t);
    }
    for (const Template& t : grammar_.templates) {  // in the order of the grammar, not of the shapes
      for (auto& [shape, set] : by_shape) {
        if (set.front() == &t && (largest == nullptr || set.size() > largest->size())) largest = &set;
      }
    }
    for (const auto k : RandomStream(request_.seed, Purpose::ioi_templates).permutation(largest->size())) {
      if (!request_.held_out || (*largest)[k]->held_out) templates_.push_back((*largest)[k]);
    }
  }

  std::pair<std::string, std::string> fillers(RandomStream& random) const {
    const std::string& place = grammar_.places[random.below(grammar_.places.size())];
    return {place, grammar_.objects[random.below(grammar_.objects.size())]};
  }

  std::vector<Token> tokens(const Template& t, const std::array<std::size_t, 3>& names,
                            const std::string& place, const std::string& object) const {
    const auto name = [&](std::size_t k) { return grammar_.names[names_[names[k]].number]; };
    const std::string text =
        fmt::format("{} {} and {} {}{} {} {}", t.opener, name(0), name(1), fill(t.scene, place, object),
                    t.link, name(2), fill(t.gift, place, object));
    std::vector<Token> found = tokenizer_.encode(text);
    if (bos_ >= 0) found.insert(found.begin(), bos_);
    return found;
  }

  const IoiRequest& request_;
  const Tokenizer& tokenizer_;
  Grammar grammar_;
  Token bos_;
  std::vector<Name> names_;
  std::vector<std::pair<std::size_t, std::size_t>> pairs_;  // of names that may meet
  std::vector<const Template*> templates_;                  // in the order of their use
};

}  // namespace

PromptTask ioi_task(const IoiRequest& request, const Tokenizer& tokenizer) {
  if (request.prompts == 0 || request.prompts % 2 != 0) {
    throw Error(ErrorCode::usage,
                fmt::format("--prompts {}: prompts of --task ioi come in pairs", request.prompts),
                "give an even number");
  }
  return Generator(request, tokenizer).make();
}

}  // namespace hifi
