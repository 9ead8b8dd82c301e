#include "model/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "core/interrupt.h"
#include "data/text_column.h"
#include "hifi/error.h"

extern char** environ;

namespace hifi {

namespace {

constexpr std::size_t kKeptComplaint = 65'536;
constexpr std::chrono::microseconds kLongestPause = std::chrono::milliseconds(20);

struct Pipe {
  int read = -1;
  int write = -1;

  Pipe() {
    int ends[2];
    // Close-on-exec: a child started by another thread must not hold our ends open.
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw model_error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    read = ends[0];
    write = ends[1];
  }
  ~Pipe() {
    close_end(read);
    close_end(write);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
};

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "";
  const auto start = text.find_last_of("\r\n", end);
  return text.substr(start == std::string::npos ? 0 : start + 1,
                     end - (start == std::string::npos ? 0 : start + 1) + 1);
}

// Like write(), but a reader that is gone is EPIPE and no signal, whatever the process does with SIGPIPE.
ssize_t write_quietly(int file, const char* data, std::size_t size) {
  sigset_t pipe_signal;
  sigset_t before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  const ssize_t count = write(file, data, size);
  const int error = errno;
  if (count < 0 && error == EPIPE) {
    constexpr timespec kNow{};
    sigtimedwait(&pipe_signal, nullptr, &kNow);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return count;
}

class Child {
 public:
  explicit Child(const std::string& command) : command_(command) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in_.read, 0);
    posix_spawn_file_actions_adddup2(&actions, out_.write, 1);
    posix_spawn_file_actions_adddup2(&actions, error_.write, 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGINT);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    std::string shell = "sh";
    std::string flag = "-c";
    std::string text = command;
    char* arguments[] = {shell.data(), flag.data(), text.data(), nullptr};
    const int result = posix_spawn(&pid_, "/bin/sh", &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (result != 0) throw model_error(fmt::format("cannot start sh: {}", std::strerror(result)));
    Pipe::close_end(in_.read);
    Pipe::close_end(out_.write);
    Pipe::close_end(error_.write);
    fcntl(in_.write, F_SETFL, O_NONBLOCK);
  }

  ~Child() {
    if (pid_ < 0) return;
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  std::string talk(const std::string& input, double seconds, std::size_t max_output) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    const auto check_time = [&] {
      check_interrupt();
      if (std::chrono::steady_clock::now() < deadline) return;
      throw model_error(fmt::format("process:{}: no answer after {} s", command_, seconds),
                        "allow more with the environment variable HIFI_PROCESS_TIMEOUT (seconds)");
    };
    std::size_t sent = 0;
    while (out_.read >= 0 || error_.read >= 0) {
      check_time();
      std::array<pollfd, 3> fds{pollfd{in_.write, POLLOUT, 0}, pollfd{out_.read, POLLIN, 0},
                                pollfd{error_.read, POLLIN, 0}};
      if (poll(fds.data(), fds.size(), 100) < 0 && errno != EINTR) break;
      if (fds[0].revents != 0) send(input, sent);
      if (fds[1].revents != 0) receive(out_.read, answer_);
      if (fds[2].revents != 0) receive(error_.read, complaint_);
      if (answer_.size() > max_output) {
        throw model_error(fmt::format("process:{}: printed more than {} bytes", command_, max_output),
                          "it must print one line per row: a number, or comma-separated class probabilities");
      }
      // Only its last line is shown.
      if (complaint_.size() > 2 * kKeptComplaint) complaint_.erase(0, complaint_.size() - kKeptComplaint);
    }
    Pipe::close_end(in_.write);
    int status = 0;
    for (auto pause = std::chrono::microseconds(50); !ended(status);
         pause = std::min(2 * pause, kLongestPause)) {
      check_time();
      std::this_thread::sleep_for(pause);
    }
    judge(status);
    return std::move(answer_);
  }

 private:
  void send(const std::string& input, std::size_t& sent) {
    const ssize_t count = write_quietly(in_.write, input.data() + sent, input.size() - sent);
    if (count > 0) sent += static_cast<std::size_t>(count);
    // A program may stop reading early (EPIPE); its exit status or its answer will tell.
    if (sent == input.size() || (count < 0 && errno != EAGAIN && errno != EINTR)) Pipe::close_end(in_.write);
  }

  static void receive(int& end, std::string& text) {
    std::array<char, 65536> buffer;
    const ssize_t count = read(end, buffer.data(), buffer.size());
    if (count > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      Pipe::close_end(end);
    }
  }

  bool ended(int& status) {
    const pid_t result = waitpid(pid_, &status, WNOHANG);
    if (result == 0 || (result < 0 && errno == EINTR)) return false;
    pid_ = -1;
    return true;
  }

  void judge(int status) const {
    const std::string said = complaint_.empty() ? "" : fmt::format(": {}", one_line(last_line(complaint_)));
    if (WIFSIGNALED(status)) {
      throw model_error(fmt::format("process:{}: killed by signal {}{}", command_, WTERMSIG(status), said));
    }
    if (WEXITSTATUS(status) != 0) {
      throw model_error(fmt::format("process:{}: exit status {}{}", command_, WEXITSTATUS(status), said));
    }
  }

  std::string command_;
  Pipe in_, out_, error_;
  pid_t pid_ = -1;
  std::string answer_;
  std::string complaint_;
};

}  // namespace

std::string run_child(const std::string& command, const std::string& input, double seconds,
                      std::size_t max_output) {
  return Child(command).talk(input, seconds, max_output);
}

}  // namespace hifi
