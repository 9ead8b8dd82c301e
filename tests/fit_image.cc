// fit_image RECIPE IMAGE OUT: writes OUT.fitted.npy (0..1, channels first) and OUT.input.npy (what the model
// gets). Lets Python tests compare recipes with the libraries that models were trained with.
#include <cstdio>

#include "core/files.h"
#include "data/npy.h"
#include "data/recipe.h"
#include "hifi/error.h"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    const hifi::Recipe recipe = hifi::Recipe::open(argv[1]);
    const hifi::Planes fitted = recipe.fit_image(hifi::read_image(argv[2]));
    const std::string out = argv[3];
    hifi::write_file(out + ".fitted.npy",
                     hifi::npy_bytes(fitted.values, {fitted.channels, fitted.height, fitted.width}));
    hifi::write_file(out + ".input.npy", hifi::npy_bytes(recipe.normalise(fitted), recipe.shape()));
  } catch (const hifi::Error& error) {
    std::fprintf(stderr, "%s (%s)\n", error.what(), error.hint().c_str());
    return static_cast<int>(error.code());
  }
  return 0;
}
