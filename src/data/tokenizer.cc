#include "data/tokenizer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <queue>
#include <span>
#include <unordered_map>

#include "core/files.h"
#include "core/json_text.h"
#include "hifi/error.h"

namespace hifi {

namespace {

constexpr std::string_view kEndOfText = "<|endoftext|>";

// GPT-2's pattern. White space is spelled out: PCRE2's \s has the Mongolian vowel separator, too.
constexpr const char* kPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\t-\r\x{85}\p{Z}\p{L}\p{N}]+)"
    R"(|[\t-\r\x{85}\p{Z}]+(?![^\t-\r\x{85}\p{Z}])|[\t-\r\x{85}\p{Z}]+)";

std::string utf8(std::uint32_t code) {
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0U | code >> 6), static_cast<char>(0x80U | (code & 0x3FU))};  // below 0x800
}

// GPT-2 writes bytes as printable characters: those that print stand for themselves, the others follow from
// 256 on.
std::array<std::string, 256> byte_names() {
  std::array<std::string, 256> names;
  std::uint32_t next = 256;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    const bool prints = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    names[byte] = utf8(prints ? byte : next++);
  }
  return names;
}

struct Merge {
  std::uint32_t rank = 0;
  Token merged = 0;
};

std::uint64_t pair_key(Token left, Token right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
         static_cast<std::uint32_t>(right);
}

// What is left of a part while its pairs are merged: a list of symbols, each linked to its neighbours.
struct Symbol {
  Token token = 0;
  std::int32_t previous = 0;
  std::int32_t next = 0;
};

struct Candidate {
  std::uint32_t rank = 0;
  std::int32_t left = 0;
  Token merged = 0;
  std::uint64_t pair = 0;
  // The lowest rank first, then from the left.
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
  }
};

std::string shown(std::string_view text) {
  constexpr std::size_t kLong = 60;
  std::string result;
  for (const char c : text.substr(0, kLong)) {
    if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + (text.size() > kLong ? ".." : "");
}

}  // namespace

struct Tokenizer::Parts {
  std::unordered_map<std::string, Token> ids;
  std::vector<std::string> bytes;  // of each token
  std::array<Token, 256> byte_token{};
  std::unordered_map<std::uint64_t, Merge> merges;
  Token end_of_text = -1;
  pcre2_code* pattern = nullptr;

  Parts() = default;
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() { pcre2_code_free(pattern); }

  void read_vocabulary(const std::string& path);
  void read_merges(const std::string& path);
  void compile();
  void encode_plain(std::string_view text, std::vector<Token>& out) const;
  void merge(std::string_view part, std::vector<Token>& out) const;
};

void Tokenizer::Parts::read_vocabulary(const std::string& path) {
  const auto document = parse_json(read_file(path), path);
  if (!document.is_object() || document.empty()) {
    throw input_error(fmt::format("{}: is no JSON object of tokens", path));
  }
  bytes.resize(document.size());
  std::vector<bool> seen(document.size());
  std::unordered_map<std::string, char> values;
  const auto names = byte_names();
  for (std::size_t b = 0; b < names.size(); ++b) values.emplace(names[b], static_cast<char>(b));
  for (const auto& [name, id] : document.items()) {
    const bool valid = id.is_number_unsigned() && id.get<std::uint64_t>() < bytes.size();
    if (!valid || seen[id.get<std::size_t>()]) {
      throw input_error(fmt::format("{}: token \"{}\" has no id of its own from 0 to {}", path, shown(name),
                                    bytes.size() - 1));
    }
    const auto token = id.get<std::size_t>();
    seen[token] = true;
    ids.emplace(name, static_cast<Token>(token));
    for (std::size_t k = 0; k < name.size();) {
      const std::size_t length = (static_cast<unsigned char>(name[k]) & 0x80U) == 0 ? 1 : 2;
      const auto value = values.find(name.substr(k, length));
      // A token added by hand ("<|endoftext|>", or one with a space) stands for itself.
      bytes[token] += value != values.end() ? std::string(1, value->second) : name.substr(k, length);
      k += length;
    }
  }
  for (std::size_t b = 0; b < names.size(); ++b) {
    const auto found = ids.find(names[b]);
    byte_token[b] = found == ids.end() ? -1 : found->second;
  }
  const auto end = ids.find(std::string(kEndOfText));
  if (end != ids.end()) end_of_text = end->second;
}

void Tokenizer::Parts::read_merges(const std::string& path) {
  const std::string text = read_file(path);
  std::uint32_t rank = 0;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    const std::size_t space = line.find(' ');
    const auto known = [&](const std::string& name) {
      const auto found = ids.find(name);
      return found == ids.end() ? Token{-1} : found->second;
    };
    if (space == std::string::npos || line.find(' ', space + 1) != std::string::npos) {
      throw input_error(fmt::format("{}: line {} is no pair of tokens", path, number));
    }
    const Token left = known(line.substr(0, space));
    const Token right = known(line.substr(space + 1));
    const Token merged = known(line.substr(0, space) + line.substr(space + 1));
    if (left < 0 || right < 0 || merged < 0) {
      throw input_error(fmt::format("{}: line {} names a token that vocab.json lacks", path, number));
    }
    merges.emplace(pair_key(left, right), Merge{rank++, merged});
  }
}

void Tokenizer::Parts::compile() {
  int error = 0;
  PCRE2_SIZE offset = 0;
  pattern = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(kPattern), PCRE2_ZERO_TERMINATED,
                          PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr);
  if (pattern == nullptr) throw Error(ErrorCode::bug, "the pattern of the tokenizer does not compile");
  pcre2_jit_compile(pattern, PCRE2_JIT_COMPLETE);  // where there is no JIT, the interpreter serves
}

// A heap instead of GPT-2's repeated scan: the same merges in the same order, also for a run of 100,000
// spaces.
void Tokenizer::Parts::merge(std::string_view part, std::vector<Token>& out) const {
  std::vector<Symbol> symbols(part.size());
  const auto count = static_cast<std::int32_t>(part.size());
  for (std::int32_t k = 0; k < count; ++k) {
    const auto byte = static_cast<unsigned char>(part[static_cast<std::size_t>(k)]);
    if (byte_token[byte] < 0) {
      throw input_error(
          fmt::format("\"{}\": the vocabulary has no token for byte 0x{:02x}", shown(part), byte));
    }
    symbols[static_cast<std::size_t>(k)] = {byte_token[byte], k - 1, k + 1};
  }
  const auto at = [&](std::int32_t k) -> Symbol& { return symbols[static_cast<std::size_t>(k)]; };
  std::priority_queue<Candidate> queue;
  const auto propose = [&](std::int32_t left) {
    if (left < 0 || at(left).next >= count) return;
    const std::uint64_t key = pair_key(at(left).token, at(at(left).next).token);
    const auto found = merges.find(key);
    if (found != merges.end()) queue.push({found->second.rank, left, found->second.merged, key});
  };
  for (std::int32_t k = 0; k + 1 < count; ++k) propose(k);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = at(best.left);
    if (left.token < 0 || left.next >= count) continue;
    Symbol& right = at(left.next);
    if (pair_key(left.token, right.token) != best.pair) continue;  // one of the two was merged meanwhile
    left.token = best.merged;
    right.token = -1;
    left.next = right.next;
    if (left.next < count) at(left.next).previous = best.left;
    propose(left.previous);
    propose(best.left);
  }
  for (std::int32_t k = 0; k < count; k = at(k).next) out.push_back(at(k).token);
}

void Tokenizer::Parts::encode_plain(std::string_view text, std::vector<Token>& out) const {
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> match(
      pcre2_match_data_create_from_pattern(pattern, nullptr), pcre2_match_data_free);
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  std::uint32_t options = 0;  // the first match checks that the text is UTF-8
  for (std::size_t begin = 0; begin < text.size();) {
    const int found = pcre2_match(pattern, subject, text.size(), begin, options, match.get(), nullptr);
    if (found <= PCRE2_ERROR_UTF8_ERR1 && found >= PCRE2_ERROR_UTF8_ERR21) {
      throw input_error(fmt::format("\"{}\": is no UTF-8", shown(text)));
    }
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(match.get());
    if (found < 0 || ends[0] != begin || ends[1] <= begin) {
      throw Error(ErrorCode::bug, fmt::format("the tokenizer cannot split \"{}\"", shown(text)));
    }
    merge(text.substr(begin, ends[1] - begin), out);
    begin = ends[1];
    options = PCRE2_NO_UTF_CHECK;
  }
}

Tokenizer::Tokenizer(const std::string& folder) : parts_(std::make_unique<Parts>()) {
  const std::filesystem::path base(folder);
  parts_->read_vocabulary((base / "vocab.json").string());
  parts_->read_merges((base / "merges.txt").string());
  parts_->compile();
}

Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

bool Tokenizer::exists(const std::string& folder) {
  const std::filesystem::path base(folder);
  return is_there((base / "vocab.json").string()) && is_there((base / "merges.txt").string());
}

std::size_t Tokenizer::size() const { return parts_->bytes.size(); }

std::vector<Token> Tokenizer::encode(std::string_view text) const {
  std::vector<Token> tokens;
  while (!text.empty()) {
    const std::size_t end =
        parts_->end_of_text < 0 ? text.size() : std::min(text.find(kEndOfText), text.size());
    parts_->encode_plain(text.substr(0, end), tokens);
    if (end == text.size()) break;
    tokens.push_back(parts_->end_of_text);
    text.remove_prefix(end + kEndOfText.size());
  }
  return tokens;
}

std::string Tokenizer::decode(const std::vector<Token>& tokens) const {
  std::string text;
  for (const Token token : tokens) {
    if (token < 0 || static_cast<std::size_t>(token) >= size()) {
      throw input_error(fmt::format("token {} is outside of the vocabulary of {}", token, size()));
    }
    text += parts_->bytes[static_cast<std::size_t>(token)];
  }
  return text;
}

Token Tokenizer::single(std::string_view text) const {
  const std::vector<Token> tokens = encode(text);
  return tokens.size() == 1 ? tokens.front() : -1;
}

}  // namespace hifi
