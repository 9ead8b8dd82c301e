#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "audit/subject.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/version.h"
#include "game/planted.h"
#include "hifi/error.h"

namespace hifi {

namespace {

// A planted game has no table: what would describe one must not be given.
void refuse_table_options(const ExplainRequest& r) {
  const auto refuse = [&](bool given, const char* option) {
    if (given) throw Error(ErrorCode::usage, fmt::format("{}: a planted game has no table", option));
  };
  refuse(!r.data.empty(), "--data");
  refuse(!r.target.empty(), "--target");
  refuse(r.background != "data", "--background");
  refuse(!r.features.empty(), "--features");
  refuse(!r.groups.empty(), "--groups");
  refuse(!r.loss.empty(), "--loss");
  refuse(!r.link.empty(), "--link");
  refuse(!r.class_name.empty(), "--class");
  refuse(!r.classes.empty(), "--classes");
  refuse(!r.cluster.empty(), "--cluster");
  refuse(!r.check_predictions.empty(), "--check-predictions");
}

}  // namespace

Subject planted_subject(const ExplainRequest& request, const std::string& path) {
  refuse_table_options(request);
  std::shared_ptr<PlantedGame> game = load_planted(path);
  const std::string hash = hex_hash(planted_to_json(game->spec()));
  const nlohmann::ordered_json provenance = {
      {"seed", request.seed},
      {"version", version()},
      {"model", {{"path", request.model}, {"format", "planted"}, {"objective", ""}, {"hash", hash}}},
      {"data", {{"path", nullptr}, {"rows", game->spec().draws}, {"hash", hash}, {"target", nullptr}}},
      {"background", {{"kind", "none"}, {"description", "none"}, {"rows", 1}, {"hash", hash}}}};
  Subject subject{.game = game.get(),
                  .players = game->spec().names,
                  .loss = "planted",
                  .tie_tolerance = 1e-9,
                  .batch_rows = 1,
                  .instances = game->spec().draws,
                  .description = fmt::format("model       {}, a planted game of {} draws\n", request.model,
                                             game->spec().draws),
                  .provenance = provenance.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
  subject.parts = std::move(game);
  return subject;
}

}  // namespace hifi
