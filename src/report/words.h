// What a reader of a profile calls its draws and its players' presence: rows that are known, or prompts and
// heads that are intact.
#pragma once

#include <string>

namespace hifi {

struct Words {
  const char* rows;  // the instances
  const char* all;   // the draws of an exact run
  const char* known;
};

Words words_of(const std::string& provenance);

}  // namespace hifi
