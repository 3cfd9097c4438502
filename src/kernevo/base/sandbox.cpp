#include "kernevo/base/sandbox.h"

#include "kernevo/base/file_cage.h"
#include "kernevo/base/instrumented.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <initializer_list>
#include <linux/capability.h>
#include <memory>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kernevo {
namespace {

struct ReleaseFilter {
  void operator()(void* filter) const { seccomp_release(filter); }
};
using Filter = std::unique_ptr<void, ReleaseFilter>;

bool add_rules(scmp_filter_ctx filter, std::uint32_t action, std::initializer_list<int> calls) {
  for (const int call : calls)
    if (call >= 0 && seccomp_rule_add_array(filter, action, call, 0, nullptr) != 0)
      return false;
  return true;
}

// Threads, not processes. clone3 hides its flags behind a pointer the filter cannot read: answering
// "no such call" makes the C library fall back to clone.
bool allow_threads(scmp_filter_ctx filter) {
  const scmp_arg_cmp thread_flag = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD);
  return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, &thread_flag) == 0 &&
         seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0, nullptr) == 0;
}

// What every program with threads and open descriptors needs.
bool allow_computing(scmp_filter_ctx filter) {
  return allow_threads(filter) && add_rules(filter, SCMP_ACT_ALLOW,
                                            {SCMP_SYS(read),
                                             SCMP_SYS(write),
                                             SCMP_SYS(readv),
                                             SCMP_SYS(writev),
                                             SCMP_SYS(poll),
                                             SCMP_SYS(ppoll),
                                             SCMP_SYS(mmap),
                                             SCMP_SYS(munmap),
                                             SCMP_SYS(mremap),
                                             SCMP_SYS(mprotect),
                                             SCMP_SYS(madvise),
                                             SCMP_SYS(brk),
                                             SCMP_SYS(futex),
                                             SCMP_SYS(exit),
                                             SCMP_SYS(exit_group),
                                             SCMP_SYS(rt_sigaction),
                                             SCMP_SYS(rt_sigprocmask),
                                             SCMP_SYS(rt_sigreturn),
                                             SCMP_SYS(sigaltstack),
                                             SCMP_SYS(clock_gettime),
                                             SCMP_SYS(clock_nanosleep),
                                             SCMP_SYS(nanosleep),
                                             SCMP_SYS(gettimeofday),
                                             SCMP_SYS(sched_yield),
                                             SCMP_SYS(sched_getaffinity),
                                             SCMP_SYS(getrandom),
                                             SCMP_SYS(gettid),
                                             SCMP_SYS(getpid),
                                             SCMP_SYS(set_robust_list),
                                             SCMP_SYS(rseq),
                                             SCMP_SYS(fstat),
                                             SCMP_SYS(newfstatat),
                                             SCMP_SYS(lseek),
                                             SCMP_SYS(close),
                                             SCMP_SYS(membarrier),
                                             SCMP_SYS(restart_syscall),
                                             SCMP_SYS(getrusage)});
}

// Everything an interpreter with a message channel needs, and nothing else.
bool allow_execution(scmp_filter_ctx filter) {
  return allow_computing(filter) &&
         add_rules(filter, SCMP_ACT_ALLOW,
                   {SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(recvfrom), SCMP_SYS(sendto),
                    SCMP_SYS(tgkill), SCMP_SYS(prlimit64)});
}

bool allow_where(scmp_filter_ctx filter, int call, const scmp_arg_cmp& argument) {
  return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &argument) == 0;
}

// Files as the FileCage lets them be seen. What it does not rule over is left out: the modes,
// owners, times and attributes of files, and links.
bool allow_files(scmp_filter_ctx filter) {
  return add_rules(filter, SCMP_ACT_ALLOW,
                   {SCMP_SYS(open),
                    SCMP_SYS(openat),
                    SCMP_SYS(openat2),
                    SCMP_SYS(close_range),
                    SCMP_SYS(stat),
                    SCMP_SYS(lstat),
                    SCMP_SYS(statx),
                    SCMP_SYS(statfs),
                    SCMP_SYS(fstatfs),
                    SCMP_SYS(access),
                    SCMP_SYS(faccessat),
                    SCMP_SYS(faccessat2),
                    SCMP_SYS(readlink),
                    SCMP_SYS(readlinkat),
                    SCMP_SYS(getdents64),
                    SCMP_SYS(getcwd),
                    SCMP_SYS(chdir),
                    SCMP_SYS(fchdir),
                    SCMP_SYS(mkdir),
                    SCMP_SYS(mkdirat),
                    SCMP_SYS(rmdir),
                    SCMP_SYS(unlink),
                    SCMP_SYS(unlinkat),
                    SCMP_SYS(rename),
                    SCMP_SYS(renameat),
                    SCMP_SYS(renameat2),
                    SCMP_SYS(ftruncate),
                    SCMP_SYS(fallocate),
                    SCMP_SYS(fsync),
                    SCMP_SYS(fdatasync),
                    SCMP_SYS(msync),
                    SCMP_SYS(pread64),
                    SCMP_SYS(pwrite64),
                    SCMP_SYS(preadv),
                    SCMP_SYS(pwritev),
                    SCMP_SYS(sendfile),
                    SCMP_SYS(copy_file_range),
                    SCMP_SYS(fadvise64),
                    SCMP_SYS(dup),
                    SCMP_SYS(dup2),
                    SCMP_SYS(dup3),
                    SCMP_SYS(flock),
                    SCMP_SYS(umask),
                    SCMP_SYS(pipe),
                    SCMP_SYS(pipe2),
                    SCMP_SYS(select),
                    SCMP_SYS(pselect6),
                    SCMP_SYS(epoll_wait),
                    SCMP_SYS(epoll_create1),
                    SCMP_SYS(epoll_ctl),
                    SCMP_SYS(epoll_pwait),
                    SCMP_SYS(eventfd2)});
}

// What Python, torch and a compiler in the process ask of the system; signals reach the process
// itself, limits can be read, and what ties its life to its parent's cannot be undone.
bool allow_program(scmp_filter_ctx filter) {
  const auto self = static_cast<scmp_datum_t>(getpid());
  bool rules =
      allow_computing(filter) && allow_files(filter) &&
      add_rules(filter, SCMP_ACT_ALLOW, {SCMP_SYS(mincore),
                                         SCMP_SYS(mlock),
                                         SCMP_SYS(munlock),
                                         SCMP_SYS(clock_getres),
                                         SCMP_SYS(time),
                                         SCMP_SYS(times),
                                         SCMP_SYS(getcpu),
                                         SCMP_SYS(getppid),
                                         SCMP_SYS(getuid),
                                         SCMP_SYS(geteuid),
                                         SCMP_SYS(getgid),
                                         SCMP_SYS(getegid),
                                         SCMP_SYS(getresuid),
                                         SCMP_SYS(getresgid),
                                         SCMP_SYS(getgroups),
                                         SCMP_SYS(getpgrp),
                                         SCMP_SYS(getrlimit),
                                         SCMP_SYS(uname),
                                         SCMP_SYS(sysinfo),
                                         SCMP_SYS(get_robust_list),
                                         SCMP_SYS(arch_prctl),
                                         SCMP_SYS(setitimer),
                                         SCMP_SYS(getitimer),
                                         SCMP_SYS(alarm),
                                         SCMP_SYS(pause),
                                         SCMP_SYS(rt_sigpending),
                                         SCMP_SYS(rt_sigtimedwait),
                                         SCMP_SYS(rt_sigsuspend),
                                         SCMP_SYS(wait4),
                                         SCMP_SYS(recvmsg),
                                         SCMP_SYS(sendmsg)}); // it has sockets, but makes none
  for (const int call : {SCMP_SYS(kill), SCMP_SYS(tgkill)})
    rules = rules && allow_where(filter, call, SCMP_A0(SCMP_CMP_EQ, self, 0));
  for (const int what : {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_CAPBSET_READ})
    rules = rules && allow_where(filter, SCMP_SYS(prctl),
                                 SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(what), 0));
  for (const unsigned long what : {FIONREAD, FIONBIO, FIOCLEX, FIONCLEX, TCGETS, TIOCGWINSZ})
    rules = rules &&
            allow_where(filter, SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffU, what));
  for (const int what : {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK,
                         F_SETLK, F_SETLKW, F_GETPIPE_SZ, F_SETPIPE_SZ})
    rules = rules &&
            allow_where(filter, SCMP_SYS(fcntl),
                        SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffU, static_cast<scmp_datum_t>(what)));
  return rules && allow_where(filter, SCMP_SYS(prlimit64), SCMP_A2(SCMP_CMP_EQ, 0, 0)) &&
         allow_where(filter, SCMP_SYS(sched_setaffinity), SCMP_A0(SCMP_CMP_EQ, 0, 0));
}

bool deny_network_and_tracing(scmp_filter_ctx filter) {
  return add_rules(filter, SCMP_ACT_ERRNO(EPERM),
                   {SCMP_SYS(socket), SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen),
                    SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
                    SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(bpf), SCMP_SYS(perf_event_open),
                    SCMP_SYS(keyctl), SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(setns),
                    SCMP_SYS(unshare), SCMP_SYS(kexec_load), SCMP_SYS(init_module),
                    // It opens sockets where no filter sees it.
                    SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter),
                    SCMP_SYS(io_uring_register)});
}

bool deny_processes(scmp_filter_ctx filter) {
  const scmp_arg_cmp no_thread = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0);
  return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1, &no_thread) ==
             0 &&
         seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0, nullptr) ==
             0 &&
         add_rules(filter, SCMP_ACT_ERRNO(EPERM),
                   {SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(execve), SCMP_SYS(execveat)});
}

// Under a sanitizer the address space is terabytes of shadow and the run-time needs system calls of
// its own, so those builds keep only the layers that do not collide with it.
bool install_filter(Confinement confinement) {
  const bool execute = confinement == Confinement::execute && !kInstrumented;
  const bool program = confinement == Confinement::program && !kInstrumented;
  const Filter filter(seccomp_init(execute || program ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_ALLOW));
  if (!filter)
    return false;
  bool rules = execute   ? allow_execution(filter.get())
               : program ? allow_program(filter.get())
                         : deny_network_and_tracing(filter.get());
  if (confinement == Confinement::drive) // a driver has threads of its own by then
    rules = rules && deny_processes(filter.get()) &&
            seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1) == 0;
  return rules && seccomp_load(filter.get()) == 0;
}

bool set_limit(int resource, std::uint64_t value) {
  const rlimit limit{value, value};
  return setrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0;
}

// Root's own powers, which no filter of files takes away.
bool drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  return syscall(SYS_capset, &header, none.data()) == 0;
}

// Tries a step in a throw-away child, so that probing changes nothing here.
template <class F> bool works_in_child(F step) {
  const pid_t child = fork();
  if (child == 0)
    _exit(step() ? 0 : 1);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

} // namespace

Result<void> confine_this_process(Confinement confinement, const ProcessLimits& limits) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_DUMPABLE, 0);
  set_limit(RLIMIT_CORE, 0);
  if (limits.address_space > 0 && !kInstrumented && !set_limit(RLIMIT_AS, limits.address_space))
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot limit the worker's memory: {}", std::strerror(errno)));
  if (limits.cpu_seconds > 0)
    set_limit(RLIMIT_CPU, limits.cpu_seconds);
  if (limits.file_bytes > 0)
    set_limit(RLIMIT_FSIZE, limits.file_bytes);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return fail(ErrorCode::infrastructure, "cannot forgo new privileges in the worker");
  const bool native = confinement == Confinement::program;
  if (native && !drop_capabilities())
    return fail(ErrorCode::infrastructure, "cannot forgo capabilities in the worker");
  // A kernel without seccomp leaves the other layers; doctor says so. Native code needs this one.
  if (!install_filter(confinement) && native)
    return fail(ErrorCode::infrastructure, "the kernel refuses filters of system calls",
                std::nullopt, "use a kernel with seccomp");
  return {};
}

std::vector<SandboxLayer> probe_sandbox() {
  const bool filters = works_in_child([] {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && install_filter(Confinement::execute);
  });
  const bool limits = works_in_child([] { return set_limit(RLIMIT_AS, std::uint64_t{1} << 34U); });
  const FileLayer files = file_layer();
  constexpr const char* still = "candidates are still interpreted in a process of their own";
  return {
      {"translation", true,
       "candidates are PTX, interpreted or translated here, with every access checked", ""},
      {"process", true, "a separate process with an empty environment and two open descriptors",
       ""},
      {"rlimits", limits,
       limits ? "memory, processor time and file size are bounded" : "setrlimit fails",
       limits ? "" : still},
      {"seccomp", filters,
       filters ? "no files, processes or network in the execution worker"
               : "the kernel refuses filters",
       filters ? "" : still},
      {"files", files != FileLayer::none,
       files == FileLayer::none
           ? "the compiler can read every file that you can: neither Landlock nor namespaces"
           : fmt::format("the compiler reads the CUDA toolkit and nothing else ({})",
                         name_of(files)),
       files == FileLayer::none
           ? "only #include lines that can be seen are refused, and no build is kept; use a kernel "
             "with Landlock (5.13 or newer), or allow user namespaces"
           : ""},
  };
}

} // namespace kernevo
