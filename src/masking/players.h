// Who plays: single columns or groups of columns that move together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hifi {

struct Players {
  std::vector<std::string> names;
  std::vector<std::vector<std::uint32_t>> columns;  // of each player, positions in the model's input

  std::size_t size() const { return names.size(); }
};

// One player per named column. Throws Error(input) if a column is unknown or named twice.
Players players_from_columns(const std::vector<std::string>& wanted,
                             const std::vector<std::string>& model_columns);

// `{"location":["lat","lon"],"age":["age"]}` in file order. Throws Error(input) if the file is no such
// object, a group is empty, a column is unknown, in two groups or twice in one.
Players players_from_groups(const std::string& path, const std::vector<std::string>& model_columns);

}  // namespace hifi
