// GPT-2's tokenizer: byte-level pair encoding from vocab.json and merges.txt.
//
// Text is split by GPT-2's pattern, the bytes of each part are merged by rank. `<|endoftext|>` in a text is
// the one token of that name, as in the owner's library, if the vocabulary has it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hifi {

using Token = std::int32_t;

class Tokenizer {
 public:
  // Reads vocab.json and merges.txt of the folder. Throws Error(input) naming file and line.
  explicit Tokenizer(const std::string& folder);
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  // True if the folder has both files.
  static bool exists(const std::string& folder);

  // Throws Error(input) naming the text: no UTF-8, or a byte that the vocabulary lacks. Thread-safe.
  std::vector<Token> encode(std::string_view text) const;
  // The bytes; they may be a part of a character. Throws Error(input) for an id outside of the vocabulary.
  std::string decode(const std::vector<Token>& tokens) const;
  // The token of a text that is one token, or -1.
  Token single(std::string_view text) const;

  std::size_t size() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace hifi
