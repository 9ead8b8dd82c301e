#include "masking/players.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "hifi/coalition.h"
#include "hifi/error.h"

namespace hifi {

namespace {

// Adds players one by one and refuses a column that is taken.
class Builder {
 public:
  Builder(std::string place, const std::vector<std::string>& columns)
      : place_(std::move(place)), columns_(columns) {}

  void add(const std::string& name, const std::vector<std::string>& members) {
    if (std::find(players_.names.begin(), players_.names.end(), name) != players_.names.end()) {
      throw input_error(fmt::format("{}: \"{}\" is named twice", place_, name));
    }
    if (members.empty()) throw input_error(fmt::format("{}: group \"{}\" has no columns", place_, name));
    std::vector<std::uint32_t> positions;
    for (const std::string& member : members) positions.push_back(take(name, member));
    players_.names.push_back(name);
    players_.columns.push_back(std::move(positions));
  }

  Players finish() {
    if (players_.size() == 0) throw input_error(fmt::format("{}: there are no players", place_));
    if (players_.size() > kMaxPlayers) {
      throw input_error(
          fmt::format("{}: {} players are too many: the limit is {}", place_, players_.size(), kMaxPlayers),
          "merge columns with --groups");
    }
    return std::move(players_);
  }

 private:
  std::uint32_t take(const std::string& player, const std::string& column) {
    const auto found = std::find(columns_.begin(), columns_.end(), column);
    if (found == columns_.end()) {
      throw input_error(fmt::format("{}: \"{}\" is no column of the model", place_, column),
                        fmt::format("its columns are {}", fmt::join(columns_, ", ")));
    }
    const auto [owner, is_new] = owner_.emplace(column, player);
    if (!is_new) {
      throw input_error(
          owner->second == player
              ? fmt::format("{}: column \"{}\" is twice in group \"{}\"", place_, column, player)
              : fmt::format("{}: column \"{}\" is in two groups, \"{}\" and \"{}\"", place_, column,
                            owner->second, player));
    }
    return static_cast<std::uint32_t>(found - columns_.begin());
  }

  std::string place_;
  const std::vector<std::string>& columns_;
  Players players_;
  std::map<std::string, std::string> owner_;
};

}  // namespace

Players players_from_columns(const std::vector<std::string>& wanted,
                             const std::vector<std::string>& model_columns) {
  Builder builder("--features", model_columns);
  for (const std::string& name : wanted) builder.add(name, {name});
  return builder.finish();
}

Players players_from_groups(const std::string& path, const std::vector<std::string>& model_columns) {
  // SAX instead of a map, because a repeated key must be seen, not overwritten.
  nlohmann::ordered_json groups;
  std::vector<std::string> keys;
  try {
    const auto note_keys = [&](int depth, nlohmann::ordered_json::parse_event_t event,
                               nlohmann::ordered_json& value) {
      if (event == nlohmann::ordered_json::parse_event_t::key && depth == 1)
        keys.push_back(value.get<std::string>());
      return true;
    };
    groups = nlohmann::ordered_json::parse(read_file(path), note_keys);
  } catch (const nlohmann::json::exception& error) {
    throw input_error(fmt::format("{}: not valid JSON: {}", path, error.what()));
  }
  const char* const kHint = R"(write {"location":["lat","lon"],"age":["age"]})";
  if (!groups.is_object()) throw input_error(fmt::format("{}: not an object of groups", path), kHint);
  std::sort(keys.begin(), keys.end());
  if (const auto twice = std::adjacent_find(keys.begin(), keys.end()); twice != keys.end()) {
    throw input_error(fmt::format("{}: \"{}\" is named twice", path, *twice));
  }
  Builder builder(path, model_columns);
  for (const auto& [name, members] : groups.items()) {
    const bool texts = members.is_array() && std::all_of(members.begin(), members.end(),
                                                         [](const auto& m) { return m.is_string(); });
    if (!texts)
      throw input_error(fmt::format("{}: group \"{}\" is not a list of column names", path, name), kHint);
    builder.add(name, members.get<std::vector<std::string>>());
  }
  return builder.finish();
}

}  // namespace hifi
