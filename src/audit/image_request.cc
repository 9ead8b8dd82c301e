#include "audit/image_request.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "audit/request_fields.h"
#include "hifi/error.h"

namespace hifi {

namespace {

// One list of fields for both directions.
template <class Request, class Visit>
void for_each_field(Request& r, Visit visit) {
  visit("model", r.model);
  visit("images", r.images);
  visit("labels", r.labels);
  visit("recipe", r.recipe);
  visit("grid", r.grid);
  visit("segments", r.segments);
  visit("offsets", r.offsets);
  visit("fill", r.fill);
  visit("fill_draws", r.fill_draws);
  visit("feather", r.feather);
  visit("loss", r.loss);
  visit("class", r.class_name);
  visit("classes", r.classes);
  visit("link", r.link);
  visit("output", r.output);
  visit("policy", r.policy);
  visit("exact", r.exact);
  visit("budget", r.budget);
  visit("time", r.time);
  visit("precision", r.precision);
  visit("seed", r.seed);
  visit("interval", r.interval);
  visit("confidence", r.confidence);
  visit("batch", r.batch);
  visit("max_memory", r.max_memory);
}

}  // namespace

std::string ImageRequest::to_json() const {
  nlohmann::json object;
  for_each_field(*this, [&](const char* name, const auto& value) { put_field(object, name, value); });
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

ImageRequest ImageRequest::from_json(const std::string& text, const std::string& place) {
  ImageRequest request;
  try {
    const auto object = nlohmann::json::parse(text);
    for_each_field(request, [&](const char* name, auto& value) { take_field(object, name, value); });
  } catch (const std::exception& error) {
    throw input_error(fmt::format("{}: the request in the run file is broken: {}", place, error.what()));
  }
  return request;
}

}  // namespace hifi
