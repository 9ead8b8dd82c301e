// Tables of E2: the same for synthetic and real images.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/e2.h"

namespace hifi {
namespace {

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Table 2 of the paper: NIH ChestX-ray14, DenseNet121, 14x14 patches. It does not say how deletion fills.
struct PaperRow {
  const char* map;
  double pointing, iou, deletion;
};
constexpr PaperRow kPaper[] = {{"Hi-Fi", .286, .134, .269},
                               {"GradCAM", .268, .142, .332},
                               {"gradient", .433, .145, .315},
                               {"integrated gradients", .335, .114, .294},
                               {"random", .030, .043, .309}};

void add_paper(std::vector<ResultCell>& row, const std::string& map, bool first) {
  for (const PaperRow& paper : kPaper) {
    if (map != paper.map && !(first && std::string(paper.map) == "Hi-Fi")) continue;
    row.insert(row.end(), {paper.pointing, paper.iou, paper.deletion});
    return;
  }
  row.insert(row.end(), {ResultCell(), ResultCell(), ResultCell()});
}

// Numbers that the first table shows; the rest are by single pixels.
constexpr std::size_t kPrinted = 7;

double difference(const std::vector<ScoredPicture>& pictures, std::size_t map, const E2Metric& metric) {
  return mean(values_of(pictures, 0, metric)) - mean(values_of(pictures, map, metric));
}

ResultCell p_cell(const std::vector<ScoredPicture>& pictures, std::size_t map, const E2Metric& metric) {
  const auto p = paired_p(pictures, 0, map, metric);
  return p ? ResultCell(fmt::format("{:.1e}", *p)) : ResultCell();
}

}  // namespace

ResultTable methods_table(const std::string& key, const std::string& subject,
                          const std::vector<ScoredPicture>& pictures) {
  ResultTable table{.key = key,
                    .title = fmt::format("Maps on {} images: means ({})", pictures.size(), subject)};
  table.columns = {"map"};
  for (std::size_t k = 0; k < kPrinted; ++k) table.columns.push_back(e2_metrics()[k].name);
  table.columns.insert(table.columns.end(), {"paper PG", "paper IoU", "paper del"});
  for (std::size_t m = 0; m < pictures.front().maps.size(); ++m) {
    const std::string& name = pictures.front().maps[m].name;
    std::vector<ResultCell> row{name};
    for (std::size_t k = 0; k < kPrinted; ++k) row.push_back(mean(values_of(pictures, m, e2_metrics()[k])));
    add_paper(row, name, m == 0);
    table.add(std::move(row));
  }
  std::vector<double> ceilings;
  for (const ScoredPicture& picture : pictures) ceilings.push_back(picture.ceiling);
  std::vector<ResultCell> row{"best attainable", "", "", mean(ceilings)};
  row.resize(table.columns.size());
  table.add(std::move(row));
  table.note = fmt::format(
      "PG: Pointing Game; near: within 15 pixels of an image of 224; IoU@15: of the top 15 % of pixels. del, "
      "ins: area under "
      "deletion (lower is better) and insertion in {} steps of {}x{} cells to which every map is pooled; "
      "fill {}, other: "
      "{}. The paper's columns are its own data and network (NIH ChestX-ray14, 14x14 patches): beside ours, "
      "not to "
      "compare.",
      kPooledSteps, kPooledCells, kPooledCells, kE2Fills[0], kE2Fills[1]);
  return table;
}

ResultTable pixels_table(const std::string& key, const std::string& subject,
                         const std::vector<ScoredPicture>& pictures) {
  ResultTable table{.key = key, .title = fmt::format("The same by single pixels: means ({})", subject)};
  table.columns = {"map"};
  for (std::size_t k = kPrinted; k < e2_metrics().size(); ++k) table.columns.push_back(e2_metrics()[k].name);
  for (std::size_t m = 0; m < pictures.front().maps.size(); ++m) {
    std::vector<ResultCell> row{pictures.front().maps[m].name};
    for (std::size_t k = kPrinted; k < e2_metrics().size(); ++k)
      row.push_back(mean(values_of(pictures, m, e2_metrics()[k])));
    table.add(std::move(row));
  }
  table.note =
      fmt::format("{} steps. Deletion of single pixels rewards scattered ones, which no finding is made of.",
                  kPixelSteps);
  return table;
}

ResultTable tests_table(const std::string& key, const std::string& subject,
                        const std::vector<ScoredPicture>& pictures) {
  ResultTable table{.key = key,
                    .title = fmt::format("{} less each other map: mean difference and p ({})",
                                         pictures.front().maps.front().name, subject)};
  const std::size_t shown[] = {0, 2, 3, 4};
  table.columns = {"other map"};
  for (const std::size_t k : shown) {
    table.columns.push_back(e2_metrics()[k].name);
    table.columns.push_back("p " + e2_metrics()[k].name);
  }
  for (std::size_t m = 1; m < pictures.front().maps.size(); ++m) {
    std::vector<ResultCell> row{pictures.front().maps[m].name};
    for (const std::size_t k : shown) {
      row.push_back(difference(pictures, m, e2_metrics()[k]));
      row.push_back(p_cell(pictures, m, e2_metrics()[k]));
    }
    table.add(std::move(row));
  }
  table.note =
      "Two-sided paired Wilcoxon tests, not corrected for their number; of deletion a negative difference is "
      "better.";
  return table;
}

ResultTable all_tests_table(const std::string& key, const std::string& subject,
                            const std::vector<ScoredPicture>& pictures) {
  ResultTable table{.key = key, .title = fmt::format("All paired tests ({})", subject), .printed = false};
  table.columns = {"map", "other map", "number", "mean difference", "p"};
  for (std::size_t m = 1; m < pictures.front().maps.size(); ++m)
    for (const E2Metric& metric : e2_metrics())
      table.add({pictures.front().maps.front().name, pictures.front().maps[m].name, metric.name,
                 difference(pictures, m, metric), p_cell(pictures, m, metric)});
  return table;
}

ResultTable groups_table(const std::string& key, const std::string& subject,
                         const std::vector<ScoredPicture>& pictures) {
  ResultTable table{.key = key, .title = fmt::format("Maps by what an image shows: means ({})", subject)};
  table.columns = {"images", "map", "n", "PG", "IoU@15", "best IoU", "del", "p(class)", "p(pure fill)"};
  std::vector<std::string> groups;
  for (const ScoredPicture& picture : pictures)
    if (std::find(groups.begin(), groups.end(), picture.group) == groups.end())
      groups.push_back(picture.group);
  for (const std::string& group : groups) {
    std::vector<ScoredPicture> part;
    for (const ScoredPicture& picture : pictures)
      if (picture.group == group) part.push_back(picture);
    double ceiling = 0, full = 0, empty = 0;
    for (const ScoredPicture& picture : part) {
      ceiling += picture.ceiling / static_cast<double>(part.size());
      full += picture.ours.full / static_cast<double>(part.size());
      empty += picture.ours.empty / static_cast<double>(part.size());
    }
    for (std::size_t m = 0; m < part.front().maps.size(); ++m) {
      const auto& metrics = e2_metrics();
      table.add({group, part.front().maps[m].name, std::to_string(part.size()),
                 mean(values_of(part, m, metrics[0])), mean(values_of(part, m, metrics[2])), ceiling,
                 mean(values_of(part, m, metrics[3])), full, empty});
    }
  }
  return table;
}

ResultTable images_table(const std::string& key, const std::string& subject,
                         const std::vector<ScoredPicture>& pictures) {
  ResultTable table{.key = key, .title = fmt::format("Every image and map ({})", subject), .printed = false};
  table.columns = {"image", "group", "class", "map"};
  for (const E2Metric& metric : e2_metrics()) table.columns.push_back(metric.name);
  for (const char* name :
       {"p(class)", "p(pure fill)", "best IoU", "S regions", "R regions", "R regions at full",
        "S regions, probability", "R regions, probability", "R regions at full, probability"})
    table.columns.push_back(name);
  for (const ScoredPicture& picture : pictures)
    for (std::size_t m = 0; m < picture.maps.size(); ++m) {
      std::vector<ResultCell> row{picture.name, picture.group, std::to_string(picture.label),
                                  picture.maps[m].name};
      for (const E2Metric& metric : e2_metrics()) row.push_back(metric.of(picture.maps[m].scores));
      if (m == 0) {
        const OurAnswer& ours = picture.ours;
        for (double value : {ours.full, ours.empty, picture.ceiling}) row.push_back(value);
        for (const RegionEffects* effects : {&ours.loss, &ours.probability})
          for (double value : {effects->synergy, effects->redundancy, effects->redundancy_full})
            row.push_back(value);
      }
      row.resize(table.columns.size());
      table.add(std::move(row));
    }
  return table;
}

}  // namespace hifi
