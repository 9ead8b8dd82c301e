// TARGET SECONDS SEED_FILE..: tries random changes of the seeds until the time is over.
//
// Built with AddressSanitizer and UBSan, it ends with an error at the first crash, at an exception that is no
// hifi::Error, and at an input that takes too long; the input is then left in TARGET.failure. The changes
// depend on the number of the trial alone, so a failure comes again.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>

#include "fuzz.h"
#include "hifi/error.h"

// Only there in a build with sanitizers.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

using Clock = std::chrono::steady_clock;
using Random = std::mt19937_64;

std::string current;       // the input in work
std::string failure_path;  // where it goes if it fails

void keep_failure() { std::ofstream(failure_path, std::ios::binary) << current; }

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::size_t below(Random& random, std::size_t limit) { return limit == 0 ? 0 : random() % limit; }

// Numbers at the edge of what a parser expects.
constexpr std::string_view kTokens[] = {
    "0",    "-1",   "1e308", "-1e308", "nan",        "inf", "4294967296", "18446744073709551616",
    "\"\"", "[]",   "{}",    "null",   "2147483647", ",",   "\n",         "99999999",
    "0.5",  "\xff", " ",     "=",      "[",          "{",   "1e-400",     "-2147483648"};

void change(std::string& text, const std::vector<std::string>& seeds, Random& random) {
  const std::size_t at = below(random, text.size() + 1);
  const std::size_t length = std::min(below(random, 64), text.size() - at);
  const std::string& other = seeds[below(random, seeds.size())];
  const std::size_t from = below(random, other.size() + 1);
  switch (below(random, 9)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(random, 8)));
      break;
    case 1:
      if (at < text.size()) text[at] = static_cast<char>(random());
      break;
    case 2:
      text.erase(at, length);
      break;
    case 3:
      text.insert(at, text.substr(at, length));
      break;
    case 4:
      text.replace(at, std::min<std::size_t>(below(random, 8), text.size() - at),
                   kTokens[below(random, std::size(kTokens))]);
      break;
    case 5:
      text.insert(at, other.substr(from, below(random, 256)));
      break;
    case 6:
      text.resize(at);
      break;
    case 7:  // one number of a text becomes another
      for (std::size_t i = at; i < text.size(); ++i) {
        if (text[i] < '0' || text[i] > '9') continue;
        text[i] = static_cast<char>('0' + below(random, 10));
        break;
      }
      break;
    default:  // one byte, many times: lengths and counts
      if (at < text.size()) text[at] = static_cast<char>(below(random, 2) == 0 ? 0xff : 0x00);
  }
}

std::vector<std::string> read_seeds(int argc, char** argv) {
  std::vector<std::string> seeds = hifi::fuzz::own_seeds();
  for (int i = 2; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) throw hifi::input_error(fmt::format("{}: cannot be opened", argv[i]));
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (seeds.empty()) throw hifi::input_error("no seeds");
  return seeds;
}

bool survives() {
  constexpr double kSlow = 20;
  const auto start = Clock::now();
  try {
    hifi::fuzz::try_input(current);
  } catch (const hifi::Error& error) {
    if (error.code() == hifi::ErrorCode::bug) {
      std::cerr << "a bug of ours: " << error.what() << "\n";
      return false;
    }
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) {
      std::cerr << "an error of several lines: " << error.what() << "\n";
      return false;
    }
  } catch (const std::exception& error) {
    std::cerr << "not an error of ours: " << error.what() << "\n";
    return false;
  }
  if (seconds_since(start) < kSlow) return true;
  std::cerr << "one input took " << seconds_since(start) << " s\n";
  return false;
}

}  // namespace

std::string hifi::fuzz::scratch_file(const std::string& bytes, const std::string& suffix) {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("hifi_fuzz_{}{}", getpid(), suffix)).string();
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

int main(int argc, char** argv) try {
  if (argc < 2) throw hifi::input_error("usage: TARGET SECONDS SEED_FILE..");
  failure_path = std::string(argv[0]) + ".failure";
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(keep_failure);
  const std::vector<std::string> seeds = read_seeds(argc, argv);
  const double limit = std::atof(argv[1]);
  const auto start = Clock::now();
  std::size_t trials = 0;
  for (; trials < seeds.size() || seconds_since(start) < limit; ++trials) {
    Random random(trials);
    current = seeds[trials % seeds.size()];
    // The seeds themselves first.
    const std::size_t changes = trials < seeds.size() ? 0 : 1 + below(random, 6);
    for (std::size_t i = 0; i < changes; ++i) change(current, seeds, random);
    if (survives()) continue;
    keep_failure();
    std::cerr << failure_path << ": trial " << trials << "\n";
    return 1;
  }
  std::cout << argv[0] << ": " << trials << " inputs\n";
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
