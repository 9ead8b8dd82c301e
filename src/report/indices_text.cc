#include "report/indices_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "indices/indices.h"
#include "report/csv.h"
#include "report/findings.h"
#include "report/text_table.h"

namespace hifi {

namespace {

// Reads back to the same double; -0.0 is 0 for a reader.
std::string number(const std::optional<double>& value, const char* absent) {
  return value ? fmt::format("{}", *value + 0.0) : absent;
}

std::size_t largest_order(const Indices& indices) {
  std::size_t order = 0;
  for (const Index& index : indices.indices) order = std::max(order, index.order);
  return order;
}

std::string quoted_json(const std::string& text) {
  using Json = nlohmann::json;
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

// Written by hand: a million values as a tree of JSON objects would take a gigabyte.
std::string indices_json(const Indices& indices) {
  const auto sets = sets_up_to(indices.players.size(), largest_order(indices));
  std::vector<std::string> names;
  for (const std::string& player : indices.players) names.push_back(quoted_json(player));
  const auto list = [](auto begin, auto end, const auto& text) {
    std::string out = "[";
    for (auto item = begin; item != end; ++item) out += (item == begin ? "" : ", ") + text(*item);
    return out + "]";
  };
  std::string out = fmt::format("{{\n \"schema\": \"hifi.indices/1\",\n \"players\": {},\n \"indices\": [",
                                list(names.begin(), names.end(), [](const auto& name) { return name; }));
  for (const Index& index : indices.indices) {
    out += fmt::format("{}\n  {{\n   \"index\": \"{}\",\n   \"order\": {},\n   \"values\": [",
                       &index == indices.indices.data() ? "" : ",", index.name, index.order);
    for (std::size_t v = 0; v < index.value.size(); ++v) {
      out += fmt::format(
          "{}\n    {{\"players\": {}, \"value\": {}, \"low\": {}, \"high\": {}}}", v == 0 ? "" : ",",
          list(sets[v].begin(), sets[v].end(), [&](std::uint32_t i) { return names[i]; }),
          number(index.value[v], "null"), number(index.low[v], "null"), number(index.high[v], "null"));
    }
    out += "\n   ]\n  }";
  }
  return out + "\n ]\n}\n";
}

std::string indices_csv(const Indices& indices) {
  const auto sets = sets_up_to(indices.players.size(), largest_order(indices));
  std::string out = "index,order,players,value,low,high\n";
  for (const Index& index : indices.indices) {
    for (std::size_t v = 0; v < index.value.size(); ++v) {
      std::string names;
      for (const std::uint32_t i : sets[v]) names += (names.empty() ? "" : ";") + indices.players[i];
      out += fmt::format("{},{},{},{},{},{}\n", index.name, index.order, csv_quoted(names),
                         number(index.value[v], ""), number(index.low[v], ""), number(index.high[v], ""));
    }
  }
  return out;
}

namespace {

std::string cell(const Index& index, std::size_t v) {
  if (v >= index.value.size()) return "";
  const std::string value = short_number(index.value[v], 4);
  if (!index.low[v] || index.low[v] == index.high[v]) return value;
  return fmt::format("{} [{}, {}]", value, short_number(*index.low[v], 2), short_number(*index.high[v], 2));
}

}  // namespace

std::string indices_table(const Indices& indices, std::size_t rows) {
  const std::size_t order = largest_order(indices);
  const auto sets = sets_up_to(indices.players.size(), order);
  TextRows table = {{"set"}};
  std::vector<bool> left = {true};
  for (const Index& index : indices.indices) {
    table.front().push_back(index.name);
    left.push_back(false);
  }
  std::size_t hidden = 0;
  for (std::size_t begin = 0, size = 1; size <= order; ++size) {
    std::size_t end = begin;
    while (end < sets.size() && sets[end].size() == size) ++end;
    const auto largest = [&](std::size_t v) {
      double most = 0;
      for (const Index& index : indices.indices)
        if (v < index.value.size()) most = std::max(most, std::abs(index.value[v]));
      return most;
    };
    std::vector<std::size_t> shown(end - begin);
    std::iota(shown.begin(), shown.end(), begin);
    if (shown.size() > rows) {
      hidden += shown.size() - rows;
      std::stable_sort(shown.begin(), shown.end(),
                       [&](std::size_t a, std::size_t b) { return largest(a) > largest(b); });
      shown.resize(rows);
      std::sort(shown.begin(), shown.end());
    }
    for (const std::size_t v : shown) {
      std::string names;
      for (const std::uint32_t i : sets[v])
        names += (names.empty() ? "" : " + ") + short_name(indices.players[i]);
      table.push_back({names});
      for (const Index& index : indices.indices) table.back().push_back(cell(index, v));
    }
    begin = end;
  }
  std::string text = fmt::format("{} player{}, order up to {}", indices.players.size(),
                                 indices.players.size() == 1 ? "" : "s", order);
  if (indices.interval)
    text += fmt::format("; {} intervals at {:.4g} %", *indices.interval, 100 * indices.confidence);
  text += "\n\n" + aligned(table, left);
  if (hidden > 0)
    text += fmt::format("  .. and {} sets with smaller values; --json or --csv has all\n", hidden);
  return text;
}

}  // namespace hifi
