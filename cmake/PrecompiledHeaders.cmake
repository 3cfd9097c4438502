# What nearly every file includes is parsed once for the program and once for the tests. A larger
# set costs more to load than it saves: nlohmann/json and LLVM stay out.
# clang refuses them where a library has sanitizers or definitions of its own, and clang-tidy cannot use them.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
set(KERNEVO_COMMON_HEADERS
  <algorithm> <array> <atomic> <bit> <chrono> <cmath> <cstdint> <cstring> <filesystem>
  <fmt/format.h> <functional> <limits> <map> <memory> <mutex> <optional> <set> <span> <string>
  <string_view> <thread> <tl/expected.hpp> <unordered_map> <utility> <variant> <vector>)

# kernevo_precompiled(<name> LINK ... HEADERS ...): a target whose precompiled headers others reuse.
function(kernevo_precompiled name)
  cmake_parse_arguments(ARG "" "" "LINK;HEADERS" ${ARGN})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Only its precompiled headers are wanted.\n")
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()

# kernevo_reuse_precompiled(<target> <name>): the same headers, and what they were compiled with.
function(kernevo_reuse_precompiled target name)
  get_target_property(libraries ${name} LINK_LIBRARIES)
  target_link_libraries(${target} PRIVATE ${libraries})
  target_precompile_headers(${target} REUSE_FROM ${name})
endfunction()
