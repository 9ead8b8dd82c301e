#include "game/table_game.h"

#include <algorithm>
#include <bit>

#include "core/hash.h"

namespace hifi {

namespace {

// Maps row keys to positions among the distinct rows of a task; emptied by a new stamp, never by a sweep.
class RowIndex {
 public:
  void reset(std::size_t rows) {
    const std::size_t wanted = std::bit_ceil(2 * rows);
    if (slots_.size() < wanted || stamp_ == UINT32_MAX) {
      slots_.assign(std::max(slots_.size(), wanted), {});
      stamp_ = 0;
    }
    ++stamp_;
  }

  // The position stored for the key, or `next` after storing it.
  std::uint32_t find_or_add(const Hash128& key, std::uint32_t next) {
    for (std::size_t at = key.low & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[at];
      if (slot.stamp != stamp_) {
        slot = {.key = key, .stamp = stamp_, .position = next};
        return next;
      }
      if (slot.key == key) return slot.position;
    }
  }

 private:
  struct Slot {
    Hash128 key;
    std::uint32_t stamp = 0;
    std::uint32_t position = 0;
  };
  std::vector<Slot> slots_;
  std::uint32_t stamp_ = 0;
};

}  // namespace

// The buffers of one task, reused by its thread.
struct TableGame::Task {
  RowIndex index;
  std::vector<std::uint32_t> row_of;  // evaluation -> distinct row
  std::vector<double> rows;
  std::uint32_t distinct = 0;
  std::vector<double> predictions;
  std::vector<double> values;   // scratch: the columns of one player
  std::vector<Hash128> change;  // per player: key of x's values xor key of z's
  std::vector<Hash128> carry;   // change[0] ^ .. ^ change[k]
};

TableGame::TableGame(const Model& model, const Loss& loss, const Players& players, const Frame& instances,
                     const std::vector<double>& truth, const Frame& background, std::size_t batch_rows)
    : model_(model),
      loss_(loss),
      players_(players),
      instances_(instances),
      truth_(truth),
      background_(background),
      batch_rows_(batch_rows) {
  std::vector<bool> owned(instances.width);
  for (const auto& columns : players.columns) {
    for (const std::uint32_t c : columns) owned[c] = true;
  }
  for (std::uint32_t c = 0; c < instances.width; ++c) {
    if (!owned[c]) fixed_columns_.push_back(c);
  }
}

template <class Contains>
void TableGame::write_row(const Draw& draw, Contains contains, double* row) const {
  const auto x = instances_.row(draw.instance);
  const auto z = background_.row(draw.background);
  std::copy(x.begin(), x.end(), row);
  for (std::size_t i = 0; i < players_.size(); ++i) {
    if (contains(i)) continue;
    for (const std::uint32_t c : players_.columns[i]) row[c] = z[c];
  }
}

void TableGame::losses(const CoalitionList& coalitions, std::span<const Draw> draws, std::span<double> out,
                       Workers& workers) {
  workers.parallel_for((out.size() + batch_rows_ - 1) / batch_rows_, [&](std::size_t t) {
    const std::size_t begin = t * batch_rows_;
    run(coalitions, draws, begin, out.subspan(begin, std::min(batch_rows_, out.size() - begin)));
  });
}

// One task: evaluations begin .. begin + out.size() - 1 of the (draw, coalition) matrix.
void TableGame::run(const CoalitionList& coalitions, std::span<const Draw> draws, std::size_t begin,
                    std::span<double> out) {
  thread_local Task task;
  task.rows.resize(out.size() * instances_.width);
  task.distinct = 0;
  // Stretches of one draw each.
  const auto for_each_draw = [&](auto&& body) {
    for (std::size_t done = 0; done < out.size();) {
      const std::size_t first = (begin + done) % coalitions.size();
      const std::size_t count = std::min(coalitions.size() - first, out.size() - done);
      body(draws[(begin + done) / coalitions.size()], first, done, count);
      done += count;
    }
  };
  const std::size_t first = begin % coalitions.size();
  const std::uint64_t mask = coalitions.first() + first;
  if (coalitions.is_lattice() && std::has_single_bit(out.size()) && mask % out.size() == 0 &&
      first + out.size() <= coalitions.size()) {
    fill_sublattice(draws[begin / coalitions.size()], mask, out.size(), task);
  } else {
    task.index.reset(out.size());
    task.row_of.clear();
    for_each_draw([&](const Draw& draw, std::size_t from, std::size_t, std::size_t count) {
      find_distinct(coalitions, draw, from, count, task);
    });
  }
  task.predictions.resize(task.distinct * loss_.outputs());
  clock_.predict(model_, std::span(task.rows).first(task.distinct * instances_.width), task.distinct,
                 task.predictions);
  clock_.add_evaluations(out.size());
  loss_.check(task.predictions);
  for_each_draw([&](const Draw& draw, std::size_t, std::size_t done, std::size_t count) {
    loss_.evaluate(task.predictions, std::span(task.row_of).subspan(done, count), truth_[draw.instance],
                   out.subspan(done, count));
  });
}

// A stretch of one draw that is a lattice of its own (masks mask .. mask + count - 1, count a power of two):
// the rows double with every player that x and z do not agree on, and there are no other duplicates.
void TableGame::fill_sublattice(const Draw& draw, std::uint64_t mask, std::size_t count, Task& task) const {
  const auto x = instances_.row(draw.instance);
  const auto z = background_.row(draw.background);
  const std::size_t width = instances_.width;
  write_row(
      draw, [&](std::size_t i) { return ((mask >> i) & 1U) != 0; }, task.rows.data());
  task.distinct = 1;
  task.row_of.resize(count);
  task.row_of[0] = 0;
  for (std::size_t i = 0; std::size_t{1} << i < count; ++i) {
    const auto& columns = players_.columns[i];
    const bool same = std::all_of(columns.begin(), columns.end(), [&](std::uint32_t c) {
      return std::bit_cast<std::uint64_t>(x[c]) == std::bit_cast<std::uint64_t>(z[c]);
    });
    const std::size_t half = std::size_t{1} << i;
    const std::uint32_t shift = same ? 0 : task.distinct;
    for (std::size_t c = 0; c < half; ++c) task.row_of[half + c] = task.row_of[c] + shift;
    if (same) continue;
    double* copy = task.rows.data() + task.distinct * width;
    std::copy_n(task.rows.data(), task.distinct * width, copy);
    for (const std::uint32_t c : columns) {
      for (std::size_t r = 0; r < task.distinct; ++r) copy[r * width + c] = x[c];
    }
    task.distinct *= 2;
  }
}

// The key of a masked row is the xor of the keys of its parts, so that the next coalition of a lattice costs
// one xor. 128 bits: no chance of a collision that anyone could meet.
void TableGame::find_distinct(const CoalitionList& coalitions, const Draw& draw, std::size_t first,
                              std::size_t count, Task& task) const {
  const auto x = instances_.row(draw.instance);
  const auto z = background_.row(draw.background);
  const auto part = [&](std::span<const double> row, std::span<const std::uint32_t> columns,
                        std::uint64_t seed) {
    task.values.clear();
    for (const std::uint32_t c : columns) task.values.push_back(row[c]);
    return hash_numbers(task.values, seed);
  };
  const std::size_t n = players_.size();
  Hash128 key = part(x, fixed_columns_, n);
  task.change.resize(n);
  task.carry.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Hash128 absent = part(z, players_.columns[i], i);
    task.change[i] = part(x, players_.columns[i], i);
    task.change[i] ^= absent;
    key ^= absent;
    task.carry[i] = task.change[i];
    if (i > 0) task.carry[i] ^= task.carry[i - 1];
  }
  const Hash128 empty = key;
  for (std::size_t c = first; c < first + count; ++c) {
    if (c == first || !coalitions.is_lattice()) {
      key = empty;
      for (std::size_t i = 0; i < n; ++i) {
        if (coalitions.contains(c, i)) key ^= task.change[i];
      }
    } else {
      // S - 1 to S flips the players up to the lowest member of S.
      key ^= task.carry[static_cast<std::size_t>(std::countr_zero(coalitions.first() + c))];
    }
    const std::uint32_t row = task.index.find_or_add(key, task.distinct);
    if (row == task.distinct) add_row(coalitions, draw, c, c > first && coalitions.is_lattice(), task);
    task.row_of.push_back(row);
  }
}

// `next`: the row before is that of the mask before, so that only the players up to the lowest member change.
void TableGame::add_row(const CoalitionList& coalitions, const Draw& draw, std::size_t index, bool next,
                        Task& task) const {
  const std::size_t width = instances_.width;
  double* row = task.rows.data() + task.distinct++ * width;
  if (!next)
    return write_row(
        draw, [&](std::size_t i) { return coalitions.contains(index, i); }, row);
  const auto x = instances_.row(draw.instance);
  const auto z = background_.row(draw.background);
  const double* before = task.rows.data() + task.row_of.back() * width;
  for (std::size_t c = 0; c < width; ++c) row[c] = before[c];
  const auto lowest = static_cast<std::size_t>(std::countr_zero(coalitions.first() + index));
  for (std::size_t i = 0; i < lowest; ++i) {
    for (const std::uint32_t c : players_.columns[i]) row[c] = z[c];
  }
  for (const std::uint32_t c : players_.columns[lowest]) row[c] = x[c];
}

}  // namespace hifi
