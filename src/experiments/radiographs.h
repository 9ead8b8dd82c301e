// Synthetic chest-like radiographs with findings of known place, for experiment E2.
//
// Three findings: A is a nodule (a disc), B a cavity (a ring), C a patch of streaks. A radiograph has two
// classes: 0 "a nodule is present" (two nodules are redundant evidence) and 1 "B and C are both present"
// (only the combination counts). An image is a pure function of (seed, index): additions, multiplications,
// divisions and square roots alone, so that the bytes are the same on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hifi {

inline constexpr std::size_t kRadiographSize = 84;  // pixels a side: 4, 7 and 14 patches divide it

enum class Finding { nodule, cavity, streaks };

// In whole pixels; covers columns x .. x+width-1 and rows y .. y+height-1.
struct FindingBox {
  Finding finding = Finding::nodule;
  int x = 0, y = 0, width = 0, height = 0;

  bool operator==(const FindingBox&) const = default;
};

// How many of each finding an image has.
struct Findings {
  int nodules = 0;
  bool cavity = false, streaks = false;
};

struct Radiograph {
  std::vector<std::uint8_t> pixels;  // row-major, kRadiographSize squared
  std::vector<FindingBox> boxes;
  std::array<bool, 2> classes{};
};

Radiograph make_radiograph(std::uint64_t seed, std::uint64_t index, const Findings& findings);

// The findings of training image `index`: both classes about as often present as absent, and each of B and C
// alone as often as neither.
Findings training_findings(std::uint64_t seed, std::uint64_t index);

// What a test image is there to show, and the class that it is explained for.
enum class Evidence {
  single,       // class 0, one nodule
  redundant,    // class 0, two nodules: either would do
  combination,  // class 1, a cavity and streaks: neither does alone
};

struct TestRadiograph {
  std::string name;  // "single_003"
  Evidence evidence = Evidence::single;
  std::size_t label = 0;  // class to explain
  Radiograph image;
  std::vector<FindingBox> boxes;  // of the class to explain alone
};

std::string evidence_name(Evidence evidence);

// Images `index` of each kind, with and without findings that do not matter for the class.
TestRadiograph make_test_radiograph(std::uint64_t seed, Evidence evidence, std::uint64_t index);

// `per_kind` images of each of the three kinds, kind by kind.
std::vector<TestRadiograph> make_test_radiographs(std::uint64_t seed, std::size_t per_kind);

}  // namespace hifi
