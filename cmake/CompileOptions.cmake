# Flags every target of this project gets.
add_compile_options(-Wall -Wextra -Werror -Wshadow -Wnon-virtual-dtor -Wold-style-cast)
# g++ 12 sees overlapping copies in "text" + std::string (its bug 105651), and with precompiled
# headers impossibly long ones.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-restrict -Wno-stringop-overflow)
endif()
# clang reports libstdc++ 12's own call of a deprecated function inside std::stable_sort.
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options(-Wno-deprecated-declarations)
endif()
# For programs as for libraries, so that they can share precompiled headers.
add_compile_options(-fPIC)
# The virtual GPU must round exactly as PTX says: the compiler may not fuse a*b+c on its own.
add_compile_options(-ffp-contract=off)

# The interpreter's lane loops want wide vectors and a hardware fma. The build is for the machine it
# runs on, so use the x86-64-v3 level where this machine has it.
include(CheckCXXSourceRuns)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT CMAKE_CROSSCOMPILING)
  check_cxx_source_runs("
    int main() {
      __builtin_cpu_init();
      return __builtin_cpu_supports(\"avx2\") && __builtin_cpu_supports(\"fma\") &&
             __builtin_cpu_supports(\"bmi2\") ? 0 : 1;
    }" KERNEVO_HOST_IS_X86_64_V3)
  if(KERNEVO_HOST_IS_X86_64_V3)
    add_compile_options(-march=x86-64-v3)
  endif()
endif()

if(KERNEVO_SANITIZE)
  add_compile_options(-fsanitize=${KERNEVO_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${KERNEVO_SANITIZE})
endif()

find_program(KERNEVO_CCACHE ccache)
set(KERNEVO_CACHED "")
if(KERNEVO_CCACHE)
  # Precompiled headers are cached under these terms only; other checkouts of the same sources share.
  set(KERNEVO_CACHED env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${KERNEVO_CCACHE})
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${KERNEVO_CACHED})
  endif()
endif()
