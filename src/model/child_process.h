// Runs a shell command with text in and text out.
#pragma once

#include <cstddef>
#include <string>

namespace hifi {

// `sh -c command` in a process group of its own, `input` on its standard input. Returns its standard
// output. Throws Error(model) if it cannot be started, fails (with the last line it wrote to standard
// error), takes longer than `seconds` or prints more than `max_output` bytes; the group is killed then, and
// when the user interrupts.
std::string run_child(const std::string& command, const std::string& input, double seconds,
                      std::size_t max_output);

}  // namespace hifi
