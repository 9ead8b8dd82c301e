#include "vocabulary/cell_store.h"

#include <fmt/format.h>

#include "hifi/error.h"

namespace hifi {

CellStore::CellStore(RunFile* file, std::size_t phase, std::size_t players, std::size_t width)
    : file_(file), phase_(phase), width_(width) {
  if (file == nullptr) return;
  file->for_each_cell(phase, players, width, [&](const Coalition& c, std::span<const double> values) {
    if (find(c) != kAbsent) {
      throw input_error(fmt::format("{}: the run file is damaged: a coalition is in it twice", file->path()),
                        "compute it again");
    }
    add(c, values);
  });
  saved_ = size();
}

std::size_t CellStore::find(const Coalition& coalition) const {
  const auto found = find_.find(coalition);
  return found == find_.end() ? kAbsent : found->second;
}

void CellStore::add(const Coalition& coalition, std::span<const double> values) {
  find_.emplace(coalition, size());
  coalitions_.push_back(coalition);
  values_.insert(values_.end(), values.begin(), values.end());
}

void CellStore::save() {
  if (file_ == nullptr || saved_ == size()) return;
  file_->commit([&] {
    for (std::size_t k = saved_; k < size(); ++k) file_->put_cell(phase_, k, coalitions_[k], values(k));
  });
  saved_ = size();
  last_ = Clock::now();
}

void CellStore::save_if_due() {
  if (Clock::now() - last_ > std::chrono::seconds(1)) save();
}

std::size_t cell_width(const RunPlan& plan) {
  return plan.instance_blocks + plan.background_blocks + plan.round_blocks + 1;
}

std::size_t search_width(const RunPlan& plan) { return plan.search.split ? 1 : cell_width(plan); }

Lattice lattice_of(const CellStore& cells, const RunPlan& plan) {
  Lattice lattice =
      Lattice::zeros(cells.size(), plan.instance_blocks, plan.background_blocks, plan.round_blocks);
  lattice.draws = plan.draws;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const double* value = cells.values(c).data();
    for (auto& block : lattice.instance) block[c] = *value++;
    for (auto& block : lattice.sums.background) block[c] = *value++;
    for (auto& block : lattice.sums.round) block[c] = *value++;
    lattice.sums.squares[c] = *value;
  }
  return lattice;
}

void merge_cells(const std::vector<std::string>& parts, const RunPlan& plan, RunFile& out) {
  const std::size_t players = plan.players.size();
  const auto read = [&](const std::string& path, std::size_t phase, std::size_t width) {
    RunFile file = RunFile::open(path, RunFile::Mode::read);
    return CellStore(&file, phase, players, width);
  };
  CellStore searched(&out, kSearchPhase, players, search_width(plan));
  const CellStore first = read(parts.front(), kSearchPhase, searched.width());
  for (std::size_t k = 0; k < first.size(); ++k) searched.add(first.coalitions()[k], first.values(k));
  searched.save();

  CellStore reported(&out, kReportPhase, players, cell_width(plan));
  std::vector<CellStore> shares;
  for (const std::string& path : parts) shares.push_back(read(path, kReportPhase, reported.width()));
  for (std::size_t k = 0; k / shares.size() < shares[k % shares.size()].size(); ++k) {
    const CellStore& share = shares[k % shares.size()];
    reported.add(share.coalitions()[k / shares.size()], share.values(k / shares.size()));
  }
  reported.save();
}

std::string image_key(std::size_t image) { return fmt::format("image/{}", image); }

void merge_images(const std::vector<std::string>& parts, const std::vector<RunPlan>& plans, RunFile& out) {
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const RunFile part = RunFile::open(parts[k], RunFile::Mode::read);
    const std::size_t grids = plans[k].search.coalitions;
    out.commit([&] {
      for (std::size_t image = plans[k].begin_image(); image < plans[k].end_image(); ++image) {
        const auto text = part.text(image_key(image));
        std::size_t cells = 0;
        for (std::size_t g = 0; text && g < grids; ++g)
          cells += out.copy_cells(part, kInstancePhase + image * grids + g);
        if (!text || cells == 0)
          throw input_error(fmt::format("{}: the run file lacks image {}", parts[k], image),
                            "compute it again");
        out.put_text(image_key(image), *text);
      }
    });
  }
}

}  // namespace hifi
