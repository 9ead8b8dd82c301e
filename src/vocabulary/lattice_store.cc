#include "vocabulary/lattice_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "hifi/error.h"
#include "vocabulary/cell_store.h"

namespace hifi {

namespace {

// Background sums, then round sums, then squares.
template <class Sums, class Body>
void for_each_array(Sums& sums, Body body) {
  std::size_t position = 0;
  for (auto& array : sums.background) body(position++, array);
  for (auto& array : sums.round) body(position++, array);
  body(position, sums.squares);
}

}  // namespace

void put_sums(RunFile& file, const std::string& name, const BlockSums& sums) {
  for_each_array(sums,
                 [&](std::size_t k, const std::vector<double>& array) { file.put_array(name, k, array); });
}

void read_sums(const RunFile& file, const std::string& name, BlockSums& sums) {
  for_each_array(sums, [&](std::size_t k, std::vector<double>& array) { file.read_array(name, k, array); });
}

namespace {

struct Position {
  std::size_t block = 0;
  std::uint64_t draws = 0;
};

Position read_position(const RunFile& file, const RunPlan& plan) {
  const auto text = file.text("position");
  if (!text) return {.block = plan.begin_block()};
  Position position;
  try {
    const auto j = nlohmann::json::parse(*text);
    if (!j.at("block").is_number_unsigned() || !j.at("draws").is_number_unsigned()) {
      throw input_error(fmt::format("{}: the position in the run file is no count", file.path()));
    }
    position = {.block = j.at("block"), .draws = j.at("draws")};
  } catch (const nlohmann::json::exception& error) {
    throw input_error(
        fmt::format("{}: the position in the run file is broken: {}", file.path(), error.what()));
  }
  if (position.block < plan.begin_block() || position.block > plan.end_block() ||
      position.draws > plan.draws) {
    throw input_error(fmt::format("{}: the position in the run file is out of range", file.path()));
  }
  return position;
}

std::size_t coalitions_of(const RunPlan& plan) { return std::size_t{1} << plan.players.size(); }

std::string tile_name(std::size_t block) { return fmt::format("tile {}", block); }

void require_sums(const RunFile& file, const std::string& name, const RunPlan& plan) {
  file.require_arrays(name, plan.background_blocks + plan.round_blocks + 1, coalitions_of(plan));
}

Lattice empty_lattice(const RunPlan& plan) {
  Lattice lattice =
      Lattice::zeros(coalitions_of(plan), plan.instance_blocks, plan.background_blocks, plan.round_blocks);
  lattice.draws = plan.draws;
  return lattice;
}

std::vector<RunPlan> read_parts(const std::vector<std::string>& paths) {
  std::vector<RunPlan> plans;
  for (const std::string& path : paths) {
    const RunFile file = RunFile::open(path, RunFile::Mode::read);
    plans.push_back(read_plan(file));
    const std::string difference = RunPlan::difference(plans.front(), plans.back());
    if (!difference.empty()) {
      throw input_error(
          fmt::format("{} and {} are parts of different runs: {}", paths.front(), path, difference));
    }
    if (plans.front().shards != plans.back().shards) {
      throw input_error(fmt::format("{} and {} are shards of different divisions: {} and {} parts",
                                    paths.front(), path, plans.front().shards, plans.back().shards));
    }
    if (!is_complete(file, plans.back())) {
      throw input_error(
          fmt::format("{}: shard {}/{} is not finished", path, plans.back().shard, plans.back().shards),
          "finish it with `hifi resume`");
    }
    const RunPlan& plan = plans.back();
    if (plan.shards == 1 || plan.policy != "exhaustive") continue;
    for (std::size_t b = plan.begin_block(); b < plan.end_block(); ++b) {
      require_sums(file, tile_name(b), plan);
    }
  }
  return plans;
}

// Positions of the parts by shard.
std::vector<std::size_t> order_parts(const std::vector<std::string>& paths,
                                     const std::vector<RunPlan>& plans) {
  const std::size_t shards = plans.front().shards;
  std::vector<std::size_t> order(shards, SIZE_MAX);
  for (std::size_t k = 0; k < plans.size(); ++k) {
    std::size_t& place = order[plans[k].shard - 1];
    if (place != SIZE_MAX) {
      throw input_error(
          fmt::format("{} and {} are both shard {}/{}", paths[place], paths[k], plans[k].shard, shards));
    }
    place = k;
  }
  for (std::size_t s = 0; s < shards; ++s) {
    if (order[s] == SIZE_MAX) throw input_error(fmt::format("shard {}/{} is missing", s + 1, shards));
  }
  return order;
}

// The state of the undivided run at its end.
LatticeState add_tiles(const std::vector<std::string>& parts, const std::vector<RunPlan>& plans,
                       const std::vector<std::size_t>& order, const RunPlan& plan) {
  LatticeState whole = LatticeState::start(plan);
  for (const std::size_t k : order) {
    const RunFile file = RunFile::open(parts[k], RunFile::Mode::read);
    for (std::size_t b = plans[k].begin_block(); b < plans[k].end_block(); ++b) {
      read_sums(file, tile_name(b), whole.tile);
      whole.lattice.add_tile(b, whole.tile);
    }
  }
  whole.block = plan.instance_blocks;
  return whole;
}

}  // namespace

LatticeState LatticeState::start(const RunPlan& plan) {
  LatticeState state{.lattice = {}, .tile = {}, .block = plan.begin_block(), .draws_done = 0};
  state.tile = zero_sums(coalitions_of(plan), plan.background_blocks, plan.round_blocks);
  if (plan.shards == 1) state.lattice = empty_lattice(plan);
  return state;
}

void LatticeStore::save(const LatticeState& state) {
  file_.commit([&] {
    if (plan_.shards == 1 && state.block > saved_blocks_) {
      if (saved_blocks_ > 0 || state.block > 0) file_.drop_arrays(tile_name(saved_blocks_));
      for (std::size_t b = saved_blocks_; b < state.block; ++b) {
        file_.put_array("instance", b, state.lattice.instance[b]);
      }
      put_sums(file_, "sums", state.lattice.sums);
      saved_blocks_ = state.block;
    }
    // A shard keeps the tile of a block without draws too (a cluster may hold all draws of a small budget).
    const bool in_work = plan_.shards > 1 && state.block < plan_.end_block();
    if (state.draws_done > 0 || in_work) put_sums(file_, tile_name(state.block), state.tile);
    file_.put_text("position", nlohmann::json{{"block", state.block}, {"draws", state.draws_done}}.dump());
  });
}

void LatticeStore::start_look(const LatticeState& state) {
  file_.commit([&] {
    file_.put_text("plan", plan_.to_json());
    file_.drop_arrays("sums");  // the last look has no rounds
    put_sums(file_, "sums", state.lattice.sums);
    file_.put_text("position", nlohmann::json{{"block", 0}, {"draws", 0}}.dump());
  });
  saved_blocks_ = 0;
}

void LatticeStore::finish_looks() {
  file_.commit([&] { file_.put_text("looks", kDone); });
}

LatticeState LatticeStore::load() {
  const Position position = read_position(file_, plan_);
  const std::size_t saved = plan_.look > 1 ? plan_.instance_blocks : position.block;  // instance blocks
  if (plan_.shards == 1 && saved > 0) {
    file_.require_arrays("instance", saved, coalitions_of(plan_));
    require_sums(file_, "sums", plan_);
  }
  if (position.draws > 0) require_sums(file_, tile_name(position.block), plan_);
  LatticeState state = LatticeState::start(plan_);
  state.block = position.block;
  state.draws_done = position.draws;
  if (plan_.shards == 1 && saved > 0) {
    for (std::size_t b = 0; b < saved; ++b) file_.read_array("instance", b, state.lattice.instance[b]);
    read_sums(file_, "sums", state.lattice.sums);
  }
  if (state.draws_done > 0) read_sums(file_, tile_name(state.block), state.tile);
  saved_blocks_ = plan_.shards == 1 ? state.block : 0;
  return state;
}

RunPlan read_plan(const RunFile& file) {
  const auto text = file.text("plan");
  if (!text) throw input_error(fmt::format("{}: the run file has no plan", file.path()));
  return RunPlan::from_json(*text, file.path());
}

bool is_complete(const RunFile& file, const RunPlan& plan) {
  if (plan.policy != "exhaustive" || plan.per_instance) return file.text("position") == kDone;
  if (plan.look > 0) return file.text("looks") == kDone;
  return read_position(file, plan).block == plan.end_block();
}

Lattice read_lattice(const RunFile& file, const RunPlan& plan) {
  file.require_arrays("instance", plan.instance_blocks, coalitions_of(plan));
  require_sums(file, "sums", plan);
  Lattice lattice = empty_lattice(plan);
  for (std::size_t b = 0; b < plan.instance_blocks; ++b) file.read_array("instance", b, lattice.instance[b]);
  read_sums(file, "sums", lattice.sums);
  return lattice;
}

void merge_runs(const std::vector<std::string>& parts, const std::string& out) {
  const std::vector<RunPlan> plans = read_parts(parts);
  if (plans.front().shards == 1) {
    throw input_error(fmt::format("{}: is not a shard, there is nothing to merge", parts.front()));
  }
  const std::vector<std::size_t> order = order_parts(parts, plans);
  RunPlan plan = plans.front();
  plan.shard = plan.shards = 1;
  const std::string part = fmt::format("{}.{}.part", out, getpid());
  std::error_code error;
  try {
    RunFile file = RunFile::create(part, plan.to_json());
    if (plan.policy == "exhaustive") {
      LatticeStore(file, plan).save(add_tiles(parts, plans, order, plan));
    } else {
      std::vector<std::string> sorted;
      std::vector<RunPlan> their_plans;
      for (const std::size_t k : order) {
        sorted.push_back(parts[k]);
        their_plans.push_back(plans[k]);
      }
      if (plan.policy == "images") {
        merge_images(sorted, their_plans, file);
      } else {
        merge_cells(sorted, plan, file);
      }
      file.commit([&] { file.put_text("position", kDone); });
    }
    file.commit([&] { file.log(fmt::format("merged from {} shards", order.size())); });
  } catch (const Error& failure) {
    RunFile::discard(part);
    throw input_error(failure.what(), failure.hint());
  }
  std::filesystem::rename(part, out, error);
  if (!error) return;
  const std::string reason = error.message();
  std::filesystem::remove(part, error);
  throw input_error(fmt::format("{}: cannot be written: {}", out, reason));
}

}  // namespace hifi
