// The JSON format of planted games (docs/planted.md).
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "game/planted.h"
#include "hifi/error.h"

namespace hifi {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "hifi.planted/1";

// A JSON object whose fields are all asked for, with the name of the place in every error.
class Fields {
 public:
  Fields(const Json& json, std::string place, std::initializer_list<const char*> known)
      : json_(json), place_(std::move(place)) {
    if (!json.is_object()) throw input_error(fmt::format("{}: must be an object", place_));
    for (const auto& item : json.items()) {
      const std::string& key = item.key();
      if (std::ranges::none_of(known, [&](const char* k) { return key == k; })) {
        throw input_error(fmt::format("{}: unknown field \"{}\"", place_, key),
                          fmt::format("known fields: {}", fmt::join(known, ", ")));
      }
    }
  }

  const Json* find(const char* key) const {
    const auto at = json_.find(key);
    return at == json_.end() ? nullptr : &*at;
  }
  const Json& require(const char* key) const {
    if (const Json* value = find(key)) return *value;
    throw fail(key, "is missing");
  }
  Error fail(const char* key, const std::string& what) const {
    return input_error(fmt::format("{}: field \"{}\" {}", place_, key, what));
  }

  double number(const char* key) const {
    const Json& value = require(key);
    if (!value.is_number()) throw fail(key, "must be a number");
    return value.get<double>();
  }
  std::uint64_t whole(const char* key, std::uint64_t least, std::uint64_t most) const {
    const Json& value = require(key);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < least ||
        value.get<std::uint64_t>() > most) {
      throw fail(key, fmt::format("must be a whole number from {} to {}", least, most));
    }
    return value.get<std::uint64_t>();
  }
  std::vector<double> numbers(const char* key) const {
    const Json& list = array(key);
    std::vector<double> result;
    for (const Json& value : list) {
      if (!value.is_number()) throw fail(key, "must hold numbers only");
      result.push_back(value.get<double>());
    }
    return result;
  }
  const Json& array(const char* key) const {
    const Json& list = require(key);
    if (!list.is_array()) throw fail(key, "must be an array");
    return list;
  }

 private:
  const Json& json_;
  std::string place_;
};

std::vector<std::string> read_names(const Fields& fields) {
  std::vector<std::string> names;
  if (fields.require("players").is_array()) {
    for (const Json& name : fields.array("players")) {
      if (!name.is_string() || name.get<std::string>().empty())
        throw fields.fail("players", "must hold names only");
      names.push_back(name.get<std::string>());
    }
    return names;
  }
  const std::uint64_t count = fields.whole("players", 1, kMaxPlayers);
  for (std::uint64_t i = 0; i < count; ++i) names.push_back(fmt::format("p{}", i));
  return names;
}

std::uint32_t read_player(const Json& value, const std::vector<std::string>& names, const Fields& fields) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() < names.size())
    return value.get<std::uint32_t>();
  if (value.is_string()) {
    const auto at = std::ranges::find(names, value.get<std::string>());
    if (at != names.end()) return static_cast<std::uint32_t>(at - names.begin());
  }
  throw fields.fail("players", fmt::format("names no player: {}", value.dump()));
}

// By how much of its weight a named effect lowers the loss.
double share_of(const std::string& kind, std::size_t members, std::size_t size) {
  if (kind == "unique" || kind == "or") return members > 0 ? 1 : 0;
  if (kind == "and") return members == size ? 1 : 0;
  if (kind == "xor") return members % 2 == 1 ? 1 : 0;
  return 2 * members > size ? 1 : 0;  // majority
}

std::vector<double> named_values(const Fields& fields, std::size_t size) {
  const Json& kind = fields.require("kind");
  const std::vector<std::string> kinds{"unique", "or", "and", "xor", "majority"};
  if (!kind.is_string() || std::ranges::find(kinds, kind.get<std::string>()) == kinds.end()) {
    throw fields.fail("kind", fmt::format("must be one of {}", fmt::join(kinds, ", ")));
  }
  const auto name = kind.get<std::string>();
  if (name == "unique" && size != 1) throw fields.fail("kind", "\"unique\" is for one player");
  std::vector<double> values(std::size_t{1} << size);
  for (std::size_t p = 0; p < values.size(); ++p) {
    values[p] = -fields.number("weight") * share_of(name, static_cast<std::size_t>(std::popcount(p)), size);
  }
  return values;
}

PlantedBlock read_block(const Json& json, const std::vector<std::string>& names, const std::string& place) {
  const Fields fields(json, place, {"players", "values", "kind", "weight"});
  PlantedBlock block;
  for (const Json& player : fields.array("players"))
    block.players.push_back(read_player(player, names, fields));
  if (block.players.empty() || block.players.size() > kMaxPlantedBlock) {
    throw fields.fail("players", fmt::format("must hold 1 to {} players", kMaxPlantedBlock));
  }
  if (fields.find("values") != nullptr) {
    if (fields.find("kind") != nullptr || fields.find("weight") != nullptr) {
      throw fields.fail("values", "stands instead of \"kind\" and \"weight\", not beside them");
    }
    block.values = fields.numbers("values");
  } else {
    block.values = named_values(fields, block.players.size());
  }
  return block;
}

PlantedImage read_image(const Json& json, const std::string& place) {
  const Fields fields(json, place, {"weights"});
  PlantedImage image;
  for (const Json& weight : fields.array("weights")) {
    if (!weight.is_number_unsigned() || weight.get<std::uint64_t>() > 1000) {
      throw fields.fail("weights", "must hold whole numbers from 1 to 1000");
    }
    image.weights.push_back(weight.get<std::uint32_t>());
  }
  return image;
}

}  // namespace

PlantedSpec planted_from_json(const std::string& text, const std::string& source) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& error) {
    throw input_error(fmt::format("{}: not JSON: {}", source, error.what()));
  }
  const Fields fields(json, source,
                      {"format", "players", "base", "blocks", "additive", "image", "draws", "noise"});
  if (fields.require("format") != kFormat)
    throw fields.fail("format", fmt::format("must be \"{}\"", kFormat));
  PlantedSpec spec;
  spec.names = read_names(fields);
  if (fields.find("base") != nullptr) spec.base = fields.number("base");
  if (fields.find("blocks") != nullptr) {
    for (const Json& block : fields.array("blocks")) {
      spec.blocks.push_back(
          read_block(block, spec.names, fmt::format("{}: block {}", source, spec.blocks.size())));
    }
  }
  if (fields.find("additive") != nullptr) spec.additive = fields.numbers("additive");
  if (const Json* image = fields.find("image"))
    spec.image = read_image(*image, fmt::format("{}: image", source));
  if (fields.find("draws") != nullptr) {
    spec.draws =
        static_cast<std::uint32_t>(fields.whole("draws", 1, std::numeric_limits<std::uint32_t>::max()));
  }
  if (const Json* noise = fields.find("noise")) {
    const Fields inner(*noise, fmt::format("{}: noise", source), {"sigma", "seed"});
    spec.noise = inner.number("sigma");
    if (inner.find("seed") != nullptr) {
      spec.noise_seed = inner.whole("seed", 0, std::numeric_limits<std::uint64_t>::max());
    }
  }
  return spec;
}

std::string planted_to_json(const PlantedSpec& spec) {
  Json json{{"format", kFormat}, {"players", spec.names}, {"base", spec.base}};
  if (spec.image) {
    json["image"] = {{"weights", spec.image->weights}};
  } else {
    json["blocks"] = Json::array();
    for (const PlantedBlock& block : spec.blocks) {
      json["blocks"].push_back({{"players", block.players}, {"values", block.values}});
    }
    if (!spec.additive.empty()) json["additive"] = spec.additive;
  }
  json["draws"] = spec.draws;
  if (spec.noise > 0) json["noise"] = {{"sigma", spec.noise}, {"seed", spec.noise_seed}};
  return json.dump(1) + "\n";
}

std::unique_ptr<PlantedGame> load_planted(const std::string& path) {
  return std::make_unique<PlantedGame>(planted_from_json(read_file(path), path), path);
}

}  // namespace hifi
