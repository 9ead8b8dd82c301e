// JSON in which no object names a key twice: a parser keeps one of the two and says nothing.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "hifi/error.h"

namespace hifi {

// A discarded value if `text` is no JSON. Throws Error(input) naming `place` and the key that is there twice.
template <class Json = nlohmann::json>
Json parse_json(std::string_view text, const std::string& place) {
  std::vector<std::unordered_set<std::string>> open;  // keys of the objects around the current value
  const auto watch = [&](int, typename Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(value.template get<std::string>()).second) {
      throw input_error(fmt::format("{}: the key {} is there twice", place,
                                    value.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 60)));
    }
    return true;
  };
  return Json::parse(text.begin(), text.end(), watch, false);
}

}  // namespace hifi
