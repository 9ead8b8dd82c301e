#include "model/served_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "data/text_column.h"
#include "hifi/error.h"

namespace hifi {

namespace {

constexpr std::string_view kForm = "http://host:port/v2/models/NAME or .../NAME/versions/V";

bool starts_with_any_case(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::equal(lower.begin(), lower.end(), text.begin(),
                    [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// NAME, or NAME/versions/V, after the last /v2/models/.
bool names_a_model(std::string_view path) {
  constexpr std::string_view kModels = "/v2/models/";
  const std::size_t at = path.rfind(kModels);
  if (at == std::string_view::npos) return false;
  const auto parts = split(path.substr(at + kModels.size()));
  const bool filled = std::none_of(parts.begin(), parts.end(), [](auto part) { return part.empty(); });
  return filled && (parts.size() == 1 || (parts.size() == 3 && parts[1] == "versions"));
}

}  // namespace

bool looks_served(std::string_view spec) {
  return starts_with_any_case(spec, "http://") || starts_with_any_case(spec, "https://");
}

std::string served_url(const std::string& spec) {
  const std::size_t host = spec.find("://") + 3;
  const std::size_t path = std::min(spec.find('/', host), spec.size());
  const std::string_view authority = std::string_view(spec).substr(host, path - host);
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    throw input_error(
        fmt::format("the address of the model at {} holds a user name or password",
                    one_line(authority.substr(at + 1))),
        "addresses are stored in run files: put a token into the environment variable HIFI_HTTP_TOKEN");
  }
  if (const auto query = spec.find_first_of("?#", host); query != std::string::npos) {
    throw input_error(
        fmt::format("{}: the address of a model has no ? or # part", one_line(spec.substr(0, query))),
        "addresses are stored in run files: put a token into the environment variable HIFI_HTTP_TOKEN");
  }
  const bool clean = std::all_of(spec.begin(), spec.end(),
                                 [](char c) { return c > ' ' && c != '\x7f' && c != '\\' && c != '"'; });
  std::string url = spec;
  while (url.size() > path && url.back() == '/') url.pop_back();
  if (!clean || authority.empty() ||
      !names_a_model(std::string_view(url).substr(std::min(path, url.size())))) {
    throw input_error(fmt::format("{}: is not the address of a served model", one_line(spec)),
                      fmt::format("the Open Inference Protocol has {}", kForm));
  }
  return url;
}

}  // namespace hifi
