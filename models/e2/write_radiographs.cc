// Writes training radiographs for train.py: images.npy (uint8, count x 84 x 84) and findings.csv
// (image,finding,x,y,w,h; an image without findings has no row) in the folder given.
//   write_radiographs DIR COUNT SEED
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>

#include "core/files.h"
#include "experiments/radiographs.h"

namespace {

std::string npy(const std::string& bytes, std::size_t count, std::size_t side) {
  std::string header =
      fmt::format("{{'descr': '|u1', 'fortran_order': False, 'shape': ({}, {}, {}), }}", count, side, side);
  header.append(63 - (10 + header.size()) % 64, ' ').push_back('\n');
  std::string file("\x93NUMPY\x01\x00", 8);
  file.push_back(static_cast<char>(header.size() & 255));
  file.push_back(static_cast<char>(header.size() >> 8));
  return file + header + bytes;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) {
    fmt::print(stderr, "usage: write_radiographs DIR COUNT SEED\n");
    return 2;
  }
  const std::string folder = argv[1];
  const std::size_t count = std::stoull(argv[2]);
  const std::uint64_t seed = std::stoull(argv[3]);
  std::string pixels, rows = "image,finding,x,y,w,h\n";
  for (std::size_t i = 0; i < count; ++i) {
    const auto image = hifi::make_radiograph(seed, i, hifi::training_findings(seed, i));
    pixels.append(image.pixels.begin(), image.pixels.end());
    for (const auto& box : image.boxes)
      rows += fmt::format("{},{},{},{},{},{}\n", i, "ABC"[static_cast<int>(box.finding)], box.x, box.y,
                          box.width, box.height);
  }
  hifi::write_files({{folder + "/images.npy", npy(pixels, count, hifi::kRadiographSize)},
                     {folder + "/findings.csv", rows}});
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "write_radiographs: {}\n", error.what());
  return 3;
}
