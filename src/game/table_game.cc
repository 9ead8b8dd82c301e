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
    if (slots_.size() < wanted) slots_.assign(wanted, {});
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
    std::uint64_t stamp = 0;
    std::uint32_t position = 0;
  };
  std::vector<Slot> slots_;
  std::uint64_t stamp_ = 0;
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
  task.index.reset(out.size());
  task.row_of.clear();
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
  for_each_draw([&](const Draw& draw, std::size_t first, std::size_t, std::size_t count) {
    find_distinct(coalitions, draw, first, count, task);
  });
  task.predictions.resize(task.distinct * loss_.outputs());
  model_.predict(std::span(task.rows).first(task.distinct * instances_.width), task.distinct,
                 task.predictions);
  model_rows_ += task.distinct;
  loss_.check(task.predictions);
  for_each_draw([&](const Draw& draw, std::size_t, std::size_t done, std::size_t count) {
    loss_.evaluate(task.predictions, std::span(task.row_of).subspan(done, count), truth_[draw.instance],
                   out.subspan(done, count));
  });
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
    task.row_of.push_back(row);
    if (row == task.distinct) add_row(coalitions, draw, c, task);
  }
}

void TableGame::add_row(const CoalitionList& coalitions, const Draw& draw, std::size_t index,
                        Task& task) const {
  const auto x = instances_.row(draw.instance);
  const auto z = background_.row(draw.background);
  double* row = task.rows.data() + task.distinct * instances_.width;
  std::copy(x.begin(), x.end(), row);
  for (std::size_t i = 0; i < players_.size(); ++i) {
    if (coalitions.contains(index, i)) continue;
    for (const std::uint32_t c : players_.columns[i]) row[c] = z[c];
  }
  ++task.distinct;
}

}  // namespace hifi
