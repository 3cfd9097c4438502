#include "kernevo/base/sandbox.h"

#include "kernevo/base/file_cage.h"
#include "kernevo/base/instrumented.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <initializer_list>
#include <memory>
#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

// Everything an interpreter with threads and a message channel needs, and nothing else.
bool allow_execution(scmp_filter_ctx filter) {
  return allow_threads(filter) && add_rules(filter, SCMP_ACT_ALLOW,
                                            {SCMP_SYS(read),
                                             SCMP_SYS(write),
                                             SCMP_SYS(readv),
                                             SCMP_SYS(writev),
                                             SCMP_SYS(recvmsg),
                                             SCMP_SYS(sendmsg),
                                             SCMP_SYS(recvfrom),
                                             SCMP_SYS(sendto),
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
                                             SCMP_SYS(tgkill),
                                             SCMP_SYS(set_robust_list),
                                             SCMP_SYS(rseq),
                                             SCMP_SYS(fstat),
                                             SCMP_SYS(newfstatat),
                                             SCMP_SYS(lseek),
                                             SCMP_SYS(close),
                                             SCMP_SYS(membarrier),
                                             SCMP_SYS(restart_syscall),
                                             SCMP_SYS(getrusage),
                                             SCMP_SYS(prlimit64)});
}

bool deny_network_and_tracing(scmp_filter_ctx filter) {
  return add_rules(filter, SCMP_ACT_ERRNO(EPERM),
                   {SCMP_SYS(socket), SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen),
                    SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
                    SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(bpf), SCMP_SYS(perf_event_open),
                    SCMP_SYS(keyctl), SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(setns),
                    SCMP_SYS(unshare), SCMP_SYS(kexec_load), SCMP_SYS(init_module)});
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
  const Filter filter(seccomp_init(execute ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_ALLOW));
  if (!filter)
    return false;
  bool rules = execute ? allow_execution(filter.get()) : deny_network_and_tracing(filter.get());
  if (confinement == Confinement::drive) // a driver has threads of its own by then
    rules = rules && deny_processes(filter.get()) &&
            seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1) == 0;
  return rules && seccomp_load(filter.get()) == 0;
}

bool set_limit(int resource, std::uint64_t value) {
  const rlimit limit{value, value};
  return setrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0;
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
  install_filter(confinement); // a kernel without seccomp leaves the other layers; doctor says so
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
