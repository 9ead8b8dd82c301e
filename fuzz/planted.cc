#include "game/planted.h"
#include "fuzz.h"

namespace hifi::fuzz {

void try_input(const std::string& bytes) { PlantedGame game(planted_from_json(bytes, "game.json")); }

std::vector<std::string> own_seeds() {
  std::vector<std::string> seeds;
  for (const std::string& family : planted_families()) {
    seeds.push_back(planted_to_json(planted_family(family, 32, seeds.size())));
  }
  return seeds;
}

}  // namespace hifi::fuzz
