// Requests as JSON: how single fields are written and read.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "hifi/error.h"

namespace hifi {

template <class T>
void put_field(nlohmann::json& object, const char* name, const T& value) {
  object[name] = value;
}
template <class T>
void put_field(nlohmann::json& object, const char* name, const std::optional<T>& value) {
  object[name] = value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}
template <class T>
void take_field(const nlohmann::json& object, const char* name, T& value) {
  // json::get would wrap -1 and cut 1e300.
  if (std::is_unsigned_v<T> && !std::is_same_v<T, bool> && !object.at(name).is_number_unsigned()) {
    throw input_error(fmt::format("{} is no count", name));
  }
  object.at(name).get_to(value);
}
template <class T>
void take_field(const nlohmann::json& object, const char* name, std::optional<T>& value) {
  if (!object.at(name).is_null()) take_field(object, name, value.emplace());
}

}  // namespace hifi
