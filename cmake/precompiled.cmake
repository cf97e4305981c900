# Precompiled headers: the headers of nearly every translation unit are parsed once.
#
# A file that forgets an #include compiles with them. Submissions are compiled without: see the
# handbook's decisions on the build.

# Requires: every target of the tree is defined, and all have the same compile options.
function(failslow_precompile_headers)
  add_library(depfast_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/empty.cc)
  target_link_libraries(depfast_pch PRIVATE Threads::Threads GTest::gtest)
  target_include_directories(depfast_pch SYSTEM PRIVATE ${MSGPACK_INCLUDE} ${XXHASH_INCLUDE})
  target_precompile_headers(depfast_pch PRIVATE
    <algorithm> <array> <cstdint> <deque> <fstream> <functional> <map> <memory> <optional> <set>
    <sstream> <stdexcept> <string> <unordered_map> <utility> <vector>
    <gtest/gtest.h> <msgpack.hpp>)
  failslow_targets_below(targets ${PROJECT_SOURCE_DIR})
  list(REMOVE_ITEM targets depfast_pch)
  foreach(target ${targets})
    # GoogleTest's target defines it, and a precompiled header serves equal definitions only.
    target_compile_definitions(${target} PRIVATE GTEST_HAS_PTHREAD=1)
    target_precompile_headers(${target} REUSE_FROM depfast_pch)
  endforeach()
endfunction()
