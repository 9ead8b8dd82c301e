#include "audit/request.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "audit/request_fields.h"
#include "hifi/error.h"

namespace hifi {

namespace {

using nlohmann::json;

// One list of fields for both directions.
template <class Request, class Visit>
void for_each_field(Request& r, Visit visit) {
  visit("model", r.model);
  visit("data", r.data);
  visit("target", r.target);
  visit("background", r.background);
  visit("features", r.features);
  visit("groups", r.groups);
  visit("loss", r.loss);
  visit("link", r.link);
  visit("output", r.output);
  visit("class", r.class_name);
  visit("classes", r.classes);
  visit("cluster", r.cluster);
  visit("policy", r.policy);
  visit("exact", r.exact);
  visit("budget", r.budget);
  visit("time", r.time);
  visit("precision", r.precision);
  visit("per_instance", r.per_instance);
  visit("amortise", r.amortise);
  visit("seed", r.seed);
  visit("interval", r.interval);
  visit("confidence", r.confidence);
  visit("batch", r.batch);
  visit("max_memory", r.max_memory);
  visit("expected", r.expected);
  visit("fast_lattice", r.fast_lattice);
  visit("check_predictions", r.check_predictions);
  visit("stress", r.stress);
  visit("task", r.task);
  visit("prompts", r.prompts);
  visit("heads", r.heads);
  visit("ablation", r.ablation);
  visit("measure", r.measure);
  visit("freeze_layernorm", r.freeze_layernorm);
}

}  // namespace

std::string ExplainRequest::to_json() const {
  json object;
  for_each_field(*this, [&](const char* name, const auto& value) { put_field(object, name, value); });
  return object.dump(-1, ' ', false, json::error_handler_t::replace);  // paths may be in any encoding
}

ExplainRequest ExplainRequest::from_json(const std::string& text, const std::string& place) {
  ExplainRequest request;
  try {
    const json object = json::parse(text);
    for_each_field(request, [&](const char* name, auto& value) { take_field(object, name, value); });
  } catch (const std::exception& error) {
    throw input_error(fmt::format("{}: the request in the run file is broken: {}", place, error.what()));
  }
  return request;
}

}  // namespace hifi
