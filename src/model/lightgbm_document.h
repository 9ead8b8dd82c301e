// The content of a LightGBM text model: `name=value` lines of the header and of each tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hifi::lightgbm {

class Section {
 public:
  Section(std::string where, std::vector<std::pair<std::string_view, std::string_view>> lines)
      : where_(std::move(where)), lines_(std::move(lines)) {}

  const std::string& where() const { return where_; }
  bool has(std::string_view name) const { return find(name) != nullptr; }
  // All but has() throw Error(input) that begins with where().
  std::string_view text(std::string_view name) const;
  std::size_t count(std::string_view name, std::size_t limit) const;  // an integer in [0, limit]
  std::vector<double> numbers(std::string_view name, std::size_t size) const;
  std::vector<std::int32_t> integers(std::string_view name, std::size_t size) const;
  std::vector<std::uint32_t> words(std::string_view name) const;

 private:
  const std::string_view* find(std::string_view name) const;
  template <class T>
  std::vector<T> list(std::string_view name) const;

  std::string where_;
  std::vector<std::pair<std::string_view, std::string_view>> lines_;
};

struct Document {
  Section header;
  std::vector<Section> trees;
  std::vector<std::uint32_t> categorical;  // columns, if the parameters name them
  std::string_view pandas_categories;      // JSON, may be empty
};

// Views of `content`, which must outlive the document. Throws Error(input) that begins with `path`.
Document parse_document(std::string_view content, const std::string& path);

std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace hifi::lightgbm
