#include "game/tree_game.h"

#include <algorithm>
#include <numeric>

namespace hifi {

namespace {

constexpr std::size_t kGroupPairs = 64;  // few enough for sums of floats
constexpr std::uint64_t kMostMaskBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMostSlotBytes = std::uint64_t{1} << 30;

std::uint64_t slot_bytes(const TreeLayout& layout) {
  return 4 * (layout.outputs.size() * layout.shape.pair_cells() + 2 * layout.shape.cells());
}

// A group needs at most as many rows of a side.
std::uint64_t least_rows(std::uint64_t rows) { return std::min<std::uint64_t>(rows, kGroupPairs); }

std::optional<LossKernel> fast_loss(const TreeLayout& layout, const Model& model, const Loss& loss) {
  if (!layout.ensemble.identity || loss.link() != Link::none || loss.outputs() != 1) return std::nullopt;
  if (loss.kind() == LossKind::squared) return LossKernel::squared;
  if (loss.kind() == LossKind::absolute) return LossKernel::absolute;
  const bool plain = loss.kind() == LossKind::prediction && model.info().task == Task::regression;
  return plain ? std::optional(LossKernel::minus) : std::nullopt;
}

}  // namespace

struct TreeGame::Slot {
  explicit Slot(const TreeLayout& layout) : sums(layout.shape.cells()), squares(layout.shape.cells()) {
    for (std::size_t g = 0; g < layout.outputs.size(); ++g) outputs.emplace_back(layout.shape);
  }
  std::vector<PairSpace> outputs;
  std::vector<float> sums, squares;
  std::vector<double> margins, predictions, losses;  // of a block, for losses without a kernel
};

struct TreeGame::Group {
  std::uint32_t block = 0;
  std::vector<Draw> draws;
};

TreeRoom tree_room(const TreeLayout& layout, std::size_t instances, std::size_t background_rows,
                   std::size_t threads, std::uint64_t limit) {
  const std::uint64_t slot = slot_bytes(layout);
  const std::uint64_t row = std::max<std::uint64_t>(layout.row_bytes(), 1);
  const std::uint64_t tasks =
      threads * TreeEnsemble::kRows * (layout.instance_bits.size() + 4 * layout.leaves());
  const std::uint64_t least = least_rows(instances) + least_rows(background_rows);
  const std::uint64_t all = std::uint64_t{instances} + background_rows;
  TreeRoom room{.groups = 1, .bytes = tasks + slot};
  const auto spare = [&] { return limit - std::min(limit, room.bytes + least * row); };
  const std::uint64_t groups = std::clamp<std::uint64_t>(kMostSlotBytes / slot, 1, threads);
  room.groups += std::min(groups - 1, spare() / slot);
  room.bytes += (room.groups - 1) * slot;
  const std::uint64_t rows = std::max(least, std::min({all, kMostMaskBytes / row, least + spare() / row}));
  // The background first: its rows come back with every block of instances.
  room.background_rows = std::min<std::uint64_t>(background_rows, rows - least_rows(instances));
  room.instance_rows = std::min<std::uint64_t>(instances, rows - room.background_rows);
  room.bytes += rows * row;
  return room;
}

TreeGame::TreeGame(std::unique_ptr<TreeLayout> layout, std::uint64_t memory, const Model& model,
                   const Loss& loss, const Players& players, const Frame& instances,
                   const std::vector<double>& truth, const Frame& background, std::size_t batch_rows)
    : TableGame(model, loss, players, instances, truth, background, batch_rows),
      layout_(std::move(layout)),
      memory_(memory),
      loss_(loss),
      instances_(instances),
      truth_(truth),
      background_(background),
      kernel_(fast_loss(*layout_, model, loss)),
      places_(*layout_, players.size()) {}

TreeGame::~TreeGame() = default;

void TreeGame::take_room(std::size_t threads) {
  const TreeRoom room = tree_room(*layout_, instances_.rows, background_.rows, threads, memory_);
  instance_masks_.emplace(*layout_, instances_, TreeMasks::Side::instance, room.instance_rows);
  background_masks_.emplace(*layout_, background_, TreeMasks::Side::background, room.background_rows);
  for (std::size_t s = 0; s < room.groups; ++s) slots_.push_back(std::make_unique<Slot>(*layout_));
}

// Some tenths of a second of work; at least a few groups.
std::uint64_t TreeGame::unit_draws() const {
  return std::clamp<std::uint64_t>((std::uint64_t{1} << 28) >> players(), 16, 65'536);
}

void TreeGame::accumulate(std::span<const Draw> draws, BlockSums& sums, Workers& workers) {
  if (slots_.empty()) take_room(workers.threads());
  add_pass(draws, &Draw::background_block, sums.background, &sums.squares, workers);
  // Computing the losses again is cheaper than keeping a group for every pair of blocks.
  if (!sums.round.empty()) add_pass(draws, &Draw::round_block, sums.round, nullptr, workers);
}

void TreeGame::add_pass(std::span<const Draw> draws, BlockOf block, std::vector<std::vector<double>>& sums,
                        std::vector<double>* squares, Workers& workers) {
  std::vector<Draw> sorted(draws.begin(), draws.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Draw& a, const Draw& b) { return a.*block < b.*block; });
  std::vector<Group> groups;
  for (const Draw& draw : sorted) {
    if (groups.empty() || groups.back().block != draw.*block || groups.back().draws.size() == kGroupPairs) {
      groups.push_back({.block = draw.*block});
    }
    groups.back().draws.push_back(draw);
  }
  for (std::span<const Group> rest = groups; !rest.empty();) {
    const std::span<const Group> ready = rest.first(stretch(rest));
    rest = rest.subspan(ready.size());
    prepare(ready, workers);
    for (std::size_t begin = 0; begin < ready.size(); begin += slots_.size()) {
      const auto wave = ready.subspan(begin, std::min(slots_.size(), ready.size() - begin));
      workers.parallel_for(wave.size(), [&](std::size_t s) { run(wave[s], squares != nullptr, *slots_[s]); });
      flush(wave, sums, squares, workers);
    }
  }
}

// How many groups have their rows in memory at once; one always has.
std::size_t TreeGame::stretch(std::span<const Group> groups) const {
  std::vector<bool> instance(truth_.size());
  std::vector<bool> background(background_masks_->rows());
  std::size_t instances = 0;
  std::size_t backgrounds = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const Draw& draw : groups[g].draws) {
      instances += !instance[draw.instance];
      backgrounds += !background[draw.background];
      instance[draw.instance] = background[draw.background] = true;
    }
    if (instances > instance_masks_->capacity() || backgrounds > background_masks_->capacity()) return g;
  }
  return groups.size();
}

void TreeGame::prepare(std::span<const Group> groups, Workers& workers) {
  std::vector<std::uint32_t> instances;
  std::vector<std::uint32_t> backgrounds;
  for (const Group& group : groups) {
    for (const Draw& draw : group.draws) {
      instances.push_back(draw.instance);
      backgrounds.push_back(draw.background);
    }
  }
  instance_masks_->ensure(instances, workers);
  background_masks_->ensure(backgrounds, workers);
}

void TreeGame::run(const Group& group, bool squares, Slot& slot) const {
  std::fill(slot.sums.begin(), slot.sums.end(), 0.0f);
  if (squares) std::fill(slot.squares.begin(), slot.squares.end(), 0.0f);
  for (const Draw& draw : group.draws) add_pair(draw, squares, slot);
}

void TreeGame::add_pair(const Draw& draw, bool squares, Slot& slot) const {
  const TreeKernels& kernels = tree_kernels();
  const LatticeShape& shape = layout_->shape;
  const std::uint8_t* x = instance_masks_->row(draw.instance);
  const std::uint8_t* z = background_masks_->row(draw.background);
  for (std::size_t g = 0; g < slot.outputs.size(); ++g) {
    const TreeLayout::Output& output = layout_->outputs[g];
    const std::size_t offset = output.begin * layout_->mask_bytes;
    kernels.deposit(shape, layout_->mask_bytes, x + offset, z + offset, layout_->values.data() + output.begin,
                    output.end - output.begin, slot.outputs[g]);
  }
  const double truth = kernel_ == LossKernel::minus ? 0 : truth_[draw.instance];
  const std::size_t block = std::min(shape.cells(), std::size_t{1} << kBlockBits);
  for (std::size_t first = 0; first < shape.cells(); first += block) {
    for (PairSpace& space : slot.outputs) kernels.finish(shape, first, space);
    float* sums = slot.sums.data() + first;
    float* sum_squares = squares ? slot.squares.data() + first : nullptr;
    if (!kernel_) {
      add_generic(first, block, truth, sums, sum_squares, slot);
      continue;
    }
    const TreeLayout::Output& output = layout_->outputs.front();
    kernels.add_loss(*kernel_, slot.outputs.front().margins.data() + first, block,
                     static_cast<float>(output.scale), static_cast<float>(truth - output.base), sums,
                     sum_squares);
  }
}

// Any link and loss, as the row engine takes them.
void TreeGame::add_generic(std::size_t first, std::size_t count, double truth, float* sums, float* squares,
                           Slot& slot) const {
  static const std::vector<std::uint32_t> kEach = [] {
    std::vector<std::uint32_t> each(std::size_t{1} << kBlockBits);
    std::iota(each.begin(), each.end(), 0U);
    return each;
  }();
  const std::size_t outputs = slot.outputs.size();
  slot.margins.resize(count * outputs);
  slot.predictions.resize(count * outputs);
  slot.losses.resize(count);
  for (std::size_t g = 0; g < outputs; ++g) {
    const TreeLayout::Output& output = layout_->outputs[g];
    const std::uint32_t* margins = slot.outputs[g].margins.data() + first;
    for (std::size_t c = 0; c < count; ++c) {
      slot.margins[g * count + c] = output.base + static_cast<std::int32_t>(margins[c]) * output.scale;
    }
  }
  layout_->trees->transform(slot.margins, count, slot.predictions);
  loss_.check(slot.predictions);
  loss_.evaluate(slot.predictions, std::span(kEach).first(count), truth, slot.losses);
  for (std::size_t c = 0; c < count; ++c) {
    const auto loss = static_cast<float>(slot.losses[c]);
    sums[c] += loss;
    if (squares != nullptr) squares[c] += loss * loss;
  }
}

// Each coalition belongs to one task, which adds the groups in their order.
void TreeGame::flush(std::span<const Group> groups, std::vector<std::vector<double>>& sums,
                     std::vector<double>* squares, Workers& workers) const {
  workers.parallel_for(places_.high.size(), [&](std::size_t chunk) {
    const std::size_t first = chunk * LatticePlaces::kCells;
    for (std::size_t s = 0; s < groups.size(); ++s) {
      double* to = sums[groups[s].block].data() + first;
      const float* from = slots_[s]->sums.data() + places_.high[chunk];
      for (std::size_t c = 0; c < places_.low.size(); ++c) to[c] += static_cast<double>(from[places_.low[c]]);
      if (squares == nullptr) continue;
      double* to_squares = squares->data() + first;
      const float* from_squares = slots_[s]->squares.data() + places_.high[chunk];
      for (std::size_t c = 0; c < places_.low.size(); ++c)
        to_squares[c] += static_cast<double>(from_squares[places_.low[c]]);
    }
  });
}

}  // namespace hifi
