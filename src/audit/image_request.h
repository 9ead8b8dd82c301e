// What an audit of images is asked to do; the run file keeps it, so that a run can be resumed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hifi {

inline constexpr std::uint64_t kDefaultImageBudget = 1000;  // model calls per image and fill

struct ImageRequest {
  std::string model;
  std::string images;
  std::string labels;
  std::string recipe;  // empty: what the model's input says
  std::string grid = "7x7";
  std::string segments;  // folder of label masks instead of a grid
  std::optional<std::size_t> offsets;
  std::string fill = "blur";
  std::optional<std::size_t> fill_draws;
  double feather = 2;  // pixels
  std::string loss;
  std::string class_name;
  std::vector<std::string> classes;
  std::string link;
  std::string output;

  std::string policy = "auto";
  bool exact = false;
  std::optional<std::uint64_t> budget;  // model calls per image
  std::string time;                     // empty, or like 5m: a budget by what the model manages in this time
  std::string precision;  // empty, or the widest interval allowed: a number, or like 2% of L({}) - L(all)
  // Images always have profiles of their own, on coalitions that they share: flags that change nothing.
  bool per_instance = false;
  bool amortise = false;
  std::uint64_t seed = 0;
  std::string interval;
  double confidence = .95;
  std::size_t batch = 0;
  std::uint64_t max_memory = std::uint64_t{4} << 30;

  std::string to_json() const;
  // Throws Error(input) naming the place.
  static ImageRequest from_json(const std::string& text, const std::string& place);
};

}  // namespace hifi
