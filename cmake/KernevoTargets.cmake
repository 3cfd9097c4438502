# One library per folder of src/kernevo, and one test program per tested folder.

# kernevo_library(<folder> SOURCES ... [LINK ...] [LINK_PRIVATE ...])
function(kernevo_library folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LINK_PRIVATE" ${ARGN})
  add_library(kernevo_${folder} STATIC ${ARG_SOURCES})
  target_include_directories(kernevo_${folder} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(kernevo_${folder} PUBLIC ${ARG_LINK} PRIVATE ${ARG_LINK_PRIVATE})
  kernevo_reuse_precompiled(kernevo_${folder} ${KERNEVO_HEADERS})
endfunction()

# kernevo_test(<name> LABEL <label> [TOOLCHAIN <filter>] SOURCES ... LINK ... [SERIAL])
# Registers every TEST of the program with CTest under the label; those that match the filter need the CUDA toolchain and
# have the label toolchain instead.
include(GoogleTest)
function(kernevo_test name)
  cmake_parse_arguments(ARG "SERIAL" "LABEL;TOOLCHAIN" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} kernevo_test_support)
  kernevo_reuse_precompiled(${name} kernevo_test_headers)
  if(ARG_SERIAL)
    set(serial RUN_SERIAL TRUE)
  endif()
  if(ARG_TOOLCHAIN)
    target_link_libraries(${name} PRIVATE kernevo_test_toolchain)
    set(others TEST_FILTER "-${ARG_TOOLCHAIN}")
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_FILTER ${ARG_TOOLCHAIN}
      PROPERTIES LABELS toolchain TIMEOUT 300 ENVIRONMENT KERNEVO_DEVICE=virtual ${serial})
  endif()
  # A GPU in the machine changes no test but those that name it.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST ${others}
    PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 300 ENVIRONMENT KERNEVO_DEVICE=virtual ${serial})
endfunction()
