# Targets in groups: each command of `kit` builds the group that it needs, and nothing else.
#   grading     `kit grade`: sealed suites, measurement, and the libraries of submissions
#   <lab>_grading  the part of them that one lab needs: a grade builds them one by one
#   checks      `kit check`: every test program, and the programs that tests start
#   runtime     the part of them that tests the runtime and its hosts; a label of its tests, too
#   benchmarks  `kit bench`: benchmarks and tools
# `kit test` and `kit cluster` build less: what the program of a submission links (recipe.py).
add_custom_target(grading)
add_custom_target(checks)
add_custom_target(runtime)
add_custom_target(benchmarks)

include(GoogleTest)
# ctest asks the programs for their tests: building them runs nothing.
set(CMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE PRE_TEST)

# failslow_add_unless_left_out(DIRECTORY): a part of the kit that a release may leave out, such as
# the tests of the kit's own code. They need Linux.
function(failslow_add_unless_left_out DIRECTORY)
  if(FAILSLOW_SIMULATION_ONLY)
    return()
  endif()
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${DIRECTORY}/CMakeLists.txt)
    add_subdirectory(${DIRECTORY})
  endif()
endfunction()

# failslow_batch(TARGET [ALONE source...])
# Compiles a target's sources in batches, with a preset that has any. Names in anonymous namespaces
# must be distinct in a batch. ALONE: sources that use what not every program has which links a part
# of this library.
function(failslow_batch TARGET)
  cmake_parse_arguments(ARG "" "" "ALONE" ${ARGN})
  set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ${FAILSLOW_BATCHES})
  set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# failslow_compile_lightly(TARGET...): tests, checkers, and main functions that read options. They
# drive what others compute: their own code need not be fast, so its compilation is.
# Not by gcc 13 and later: a header that was precompiled with -O2 does not serve -O1 there.
function(failslow_compile_lightly)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    return()
  endif()
  foreach(target ${ARGN})
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endforeach()
endfunction()

# failslow_test(TARGET TIMEOUT seconds [RUNTIME | GRADED] [PREFIX p.] [ARGUMENTS word...]
#               [NEEDS target...])
# A GoogleTest program for ctest. GRADED: a label of the tests that a grade runs. NEEDS: programs
# that it starts.
function(failslow_test TARGET)
  failslow_batch(${TARGET})
  failslow_compile_lightly(${TARGET})
  cmake_parse_arguments(ARG "RUNTIME;GRADED" "PREFIX;TIMEOUT" "ARGUMENTS;NEEDS" ${ARGN})
  set(properties TIMEOUT ${ARG_TIMEOUT})
  if(ARG_RUNTIME)
    list(APPEND properties LABELS runtime)
    add_dependencies(runtime ${TARGET} ${ARG_NEEDS})
  elseif(ARG_GRADED)
    list(APPEND properties LABELS graded)
  endif()
  gtest_discover_tests(${TARGET} TEST_PREFIX "${ARG_PREFIX}" EXTRA_ARGS ${ARG_ARGUMENTS}
    DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
  add_dependencies(checks ${TARGET} ${ARG_NEEDS})
endfunction()
