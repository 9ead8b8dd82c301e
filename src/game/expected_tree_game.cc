#include "game/expected_tree_game.h"

#include <algorithm>
#include <numeric>

namespace hifi {

namespace {

constexpr std::size_t kInstanceRows = 64;  // whose masks are kept
constexpr std::size_t kBlock = std::size_t{1} << kBlockBits;

// 0, 1, .. : every prediction of a block is evaluated once.
const std::vector<std::uint32_t>& each() {
  static const std::vector<std::uint32_t> numbers = [] {
    std::vector<std::uint32_t> result(kBlock);
    std::iota(result.begin(), result.end(), 0U);
    return result;
  }();
  return numbers;
}

// Per cell: the sum of an output, or a pair's margins; mean predictions, their squares, the loss.
std::uint64_t slot_bytes(const TreeLayout& layout) {
  return 8 * (layout.shape.cells() * (3 + 2 * layout.outputs.size())) +
         4 * layout.outputs.size() * layout.shape.pair_cells();
}

std::uint64_t background_bytes(const TreeLayout& layout, const Loss& loss, std::size_t rows) {
  return ExpectedTreeGame::linear(layout, loss) ? LeafBackground::most_bytes(layout, rows)
                                                : rows * layout.row_bytes();
}

}  // namespace

struct ExpectedTreeGame::Slot {
  Slot(const TreeLayout& layout, bool linear)
      : losses(layout.shape.cells()), means(layout.shape.cells() * layout.outputs.size()) {
    if (linear) {
      sums.emplace(layout.shape);
      return;
    }
    squares.resize(means.size());
    for (std::size_t g = 0; g < layout.outputs.size(); ++g) pairs.emplace_back(layout.shape);
  }
  std::optional<MarginSums> sums;
  std::vector<PairSpace> pairs;
  std::vector<double> margins, predictions;  // of a block
  std::vector<double> losses;                // by cell
  std::vector<double> means, squares;        // cell x output
};

bool ExpectedTreeGame::linear(const TreeLayout& layout, const Loss& loss) {
  return layout.ensemble.identity && loss.link() == Link::none;
}

std::uint64_t ExpectedTreeGame::bytes(const TreeLayout& layout, const Loss& loss, std::size_t rows) {
  return background_bytes(layout, loss, rows) + slot_bytes(layout) + kInstanceRows * layout.row_bytes();
}

ExpectedTreeGame::ExpectedTreeGame(std::unique_ptr<TreeLayout> layout, std::uint64_t memory,
                                   const Parts& parts, std::vector<std::uint32_t> rows,
                                   std::size_t batch_rows)
    : ExpectedGame(parts, std::move(rows), batch_rows),
      layout_(std::move(layout)),
      memory_(memory),
      linear_(linear(*layout_, parts.loss)),
      places_(*layout_, parts.players.size()) {}

ExpectedTreeGame::~ExpectedTreeGame() = default;

std::uint64_t ExpectedTreeGame::unit_draws() const {
  return std::clamp<std::uint64_t>((std::uint64_t{1} << 20) >> players(), 4, 1024);
}

void ExpectedTreeGame::take_room(Workers& workers) {
  if (linear_) {
    constexpr std::uint64_t kMaskBytes = std::uint64_t{256} << 20;
    leaves_.emplace(*layout_, parts().background, rows(), std::min(memory_, kMaskBytes), workers);
  } else {
    background_masks_.emplace(*layout_, parts().background, TreeMasks::Side::background, rows().size());
    background_masks_->ensure(rows(), workers);
  }
  instance_masks_.emplace(*layout_, parts().instances, TreeMasks::Side::instance, kInstanceRows);
  const std::uint64_t taken = bytes(*layout_, parts().loss, rows().size());
  const std::uint64_t more = (memory_ - std::min(memory_, taken)) / slot_bytes(*layout_);
  const std::size_t slots = std::min<std::uint64_t>(workers.threads(), 1 + more);
  for (std::size_t s = 0; s < slots; ++s) slots_.push_back(std::make_unique<Slot>(*layout_, linear_));
}

// Draws are added one after the other, whatever the number of slots.
void ExpectedTreeGame::accumulate(std::span<const Draw> draws, BlockSums& sums, Workers& workers) {
  if (slots_.empty()) take_room(workers);
  while (!draws.empty()) {
    auto known = draws.first(std::min(kInstanceRows, draws.size()));
    draws = draws.subspan(known.size());
    std::vector<std::uint32_t> instances;
    for (const Draw& draw : known) instances.push_back(draw.instance);
    instance_masks_->ensure(instances, workers);
    while (!known.empty()) {
      const auto wave = known.first(std::min(slots_.size(), known.size()));
      known = known.subspan(wave.size());
      workers.parallel_for(wave.size(), [&](std::size_t s) { run(wave[s], *slots_[s]); });
      flush(wave, sums, workers);
    }
  }
}

void ExpectedTreeGame::run(const Draw& draw, Slot& slot) const {
  const std::uint8_t* x = instance_masks_->row(draw.instance);
  linear_ ? average_leaves(x, slot) : average_rows(x, slot);
  const std::size_t outputs = layout_->outputs.size();
  const std::size_t block = std::min(kBlock, slot.losses.size());
  for (std::size_t first = 0; first < slot.losses.size(); first += block) {
    parts().loss.evaluate(std::span(slot.means).subspan(first * outputs, block * outputs),
                          std::span(each()).first(block), parts().truth[draw.instance],
                          std::span(slot.losses).subspan(first, block));
  }
  const double share = sample_share();
  if (share == 0) return;
  const auto count = static_cast<double>(rows().size());
  for (std::size_t c = 0; c < slot.losses.size(); ++c) {
    slot.losses[c] -= share * (slot.squares[c] - count * slot.means[c] * slot.means[c]) / (count - 1);
  }
}

void ExpectedTreeGame::average_leaves(const std::uint8_t* x, Slot& slot) const {
  const std::size_t outputs = layout_->outputs.size();
  const auto count = static_cast<double>(rows().size());
  for (std::size_t g = 0; g < outputs; ++g) {
    const TreeLayout::Output& output = layout_->outputs[g];
    leaves_->sum(x, output.begin, output.end, *slot.sums);
    for (std::size_t c = 0; c < slot.losses.size(); ++c) {
      const auto total = static_cast<double>(static_cast<std::int64_t>(slot.sums->cells[c]));
      slot.means[c * outputs + g] = output.base + total * output.scale / count;
    }
  }
}

void ExpectedTreeGame::average_rows(const std::uint8_t* x, Slot& slot) const {
  std::fill(slot.means.begin(), slot.means.end(), 0.0);
  std::fill(slot.squares.begin(), slot.squares.end(), 0.0);
  for (const std::uint32_t r : rows()) add_row(x, background_masks_->row(r), slot);
  for (double& mean : slot.means) mean /= static_cast<double>(rows().size());
}

void ExpectedTreeGame::add_row(const std::uint8_t* x, const std::uint8_t* z, Slot& slot) const {
  const TreeKernels& kernels = tree_kernels();
  const std::size_t outputs = layout_->outputs.size();
  const std::size_t block = std::min(kBlock, slot.losses.size());
  for (std::size_t g = 0; g < outputs; ++g) {
    const TreeLayout::Output& output = layout_->outputs[g];
    const std::size_t offset = output.begin * layout_->mask_bytes;
    kernels.deposit(layout_->shape, layout_->mask_bytes, x + offset, z + offset,
                    layout_->values.data() + output.begin, output.end - output.begin, slot.pairs[g]);
  }
  slot.margins.resize(block * outputs);
  slot.predictions.resize(block * outputs);
  for (std::size_t first = 0; first < slot.losses.size(); first += block) {
    for (std::size_t g = 0; g < outputs; ++g) {
      const TreeLayout::Output& output = layout_->outputs[g];
      kernels.finish(layout_->shape, first, slot.pairs[g]);
      const std::uint32_t* margins = slot.pairs[g].margins.data() + first;
      for (std::size_t c = 0; c < block; ++c) {
        slot.margins[g * block + c] = output.base + static_cast<std::int32_t>(margins[c]) * output.scale;
      }
    }
    layout_->trees->transform(slot.margins, block, slot.predictions);
    parts().loss.check(slot.predictions);
    double* means = slot.means.data() + first * outputs;
    double* squares = slot.squares.data() + first * outputs;
    for (std::size_t k = 0; k < block * outputs; ++k) {
      means[k] += slot.predictions[k];
      squares[k] += slot.predictions[k] * slot.predictions[k];
    }
  }
}

void ExpectedTreeGame::flush(std::span<const Draw> draws, BlockSums& sums, Workers& workers) const {
  workers.parallel_for(places_.high.size(), [&](std::size_t chunk) {
    const std::size_t first = chunk * LatticePlaces::kCells;
    for (std::size_t s = 0; s < draws.size(); ++s) {
      double* background = sums.background[draws[s].background_block].data() + first;
      double* round = sums.round.empty() ? nullptr : sums.round[draws[s].round_block].data() + first;
      double* squares = sums.squares.data() + first;
      const double* losses = slots_[s]->losses.data() + places_.high[chunk];
      for (std::size_t c = 0; c < places_.low.size(); ++c) {
        const double loss = losses[places_.low[c]];
        background[c] += loss;
        squares[c] += loss * loss;
        if (round != nullptr) round[c] += loss;
      }
    }
  });
}

}  // namespace hifi
