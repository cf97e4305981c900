# How a lab becomes programs. Four kinds:
#   <lab>_replica      the reference solution as a sealed replica
#   <lab>_real         the same as a process with sockets and a disk: what `kit cluster` runs
#   <suite>_sealed     a suite of tests that links no code under test: what grades
#   <suite>_sim        the same suite with the reference linked in: what sanitizers and gdb see
# and submission.json, which tells `kit` how to build all but the sealed suites for a submission.

include(GoogleTest)

# failslow_lab(lab1 DIRECTORY lab1-quorum-event DRIVER driver.cc... SOURCES quorum_event.cc
#              INCLUDES dir... NEEDS lab0... REAL lib...)
# DRIVER: the given sources around the student's files, compiled with every submission.
# SOURCES: the student's files that are compiled. INCLUDES: directories of given headers.
# LIBRARIES: given code that does not depend on the student's.
# REAL: of that, what only the process with sockets and a disk has: a main function of its own.
function(failslow_lab LAB)
  cmake_parse_arguments(ARG "" "DIRECTORY" "DRIVER;SOURCES;INCLUDES;LIBRARIES;NEEDS;REAL" ${ARGN})
  set(reference ${PROJECT_SOURCE_DIR}/reference-solutions/${ARG_DIRECTORY})
  list(TRANSFORM ARG_SOURCES PREPEND ${reference}/)
  add_library(${LAB}_reference STATIC ${ARG_SOURCES} ${ARG_DRIVER})
  target_include_directories(${LAB}_reference PUBLIC ${reference} ${ARG_INCLUDES})
  target_link_libraries(${LAB}_reference PUBLIC ${ARG_LIBRARIES} depfast)
  foreach(need ${ARG_NEEDS})
    target_link_libraries(${LAB}_reference PUBLIC ${need}_solution)
  endforeach()
  set(given "")
  foreach(library ${ARG_LIBRARIES})
    string(APPEND given "\"$<TARGET_FILE:${library}>\", ")
  endforeach()
  set(real "")
  foreach(library ${ARG_REAL})
    string(APPEND real "\"$<TARGET_FILE:${library}>\", ")
  endforeach()
  # The same without the driver, for labs that need this one.
  add_library(${LAB}_solution STATIC ${ARG_SOURCES})
  target_include_directories(${LAB}_solution PUBLIC ${reference} ${ARG_INCLUDES})
  target_link_libraries(${LAB}_solution PUBLIC ${ARG_LIBRARIES} depfast)
  foreach(need ${ARG_NEEDS})
    target_link_libraries(${LAB}_solution PUBLIC ${need}_solution)
  endforeach()

  file(WRITE ${CMAKE_BINARY_DIR}/empty.cc "")
  add_executable(${LAB}_replica ${CMAKE_BINARY_DIR}/empty.cc)
  target_link_libraries(${LAB}_replica PRIVATE depfast_sealed_replica ${LAB}_reference)
  add_executable(${LAB}_real ${CMAKE_BINARY_DIR}/empty.cc)
  # depfast_real, too: it asks for the lab's service, so it must come before the lab.
  # REAL first: its main is found before that of depfast_real_replica.
  target_link_libraries(${LAB}_real PRIVATE
    ${ARG_REAL} depfast_real_replica depfast_real ${LAB}_reference)

  list(JOIN ARG_DRIVER "\", \"" driver)
  set_property(GLOBAL PROPERTY FAILSLOW_DRIVER_${LAB} "\"${driver}\"")
  set_property(GLOBAL APPEND PROPERTY FAILSLOW_INCLUDES ${ARG_INCLUDES})
  set_property(GLOBAL APPEND PROPERTY FAILSLOW_REPLICAS
    "    \"${LAB}\": {\"sources\": [\"${driver}\"], \"link\": [${given}\"$<TARGET_FILE:depfast_sealed_replica>\", \"$<TARGET_FILE:depfast_sealed_protocol>\", \"$<TARGET_FILE:depfast_step>\", \"$<TARGET_FILE:depfast>\", @SYSTEM_LINK@]}")
  set_property(GLOBAL APPEND PROPERTY FAILSLOW_REALS
    "    \"${LAB}\": {\"sources\": [\"${driver}\"], \"link\": [${real}${given}\"$<TARGET_FILE:depfast_real_replica>\", \"$<TARGET_FILE:depfast_real>\", \"$<TARGET_FILE:depfast>\", @SYSTEM_LINK@]}")
endfunction()

# failslow_suite(lab1_public LAB lab1 [HIDDEN] SOURCES tests.cc... [LIBRARIES helper...])
function(failslow_suite SUITE)
  cmake_parse_arguments(ARG "HIDDEN" "LAB" "SOURCES;LIBRARIES" ${ARGN})
  get_property(includes GLOBAL PROPERTY FAILSLOW_INCLUDES)
  add_library(${SUITE}_tests OBJECT ${ARG_SOURCES})
  target_include_directories(${SUITE}_tests PRIVATE ${includes})
  target_link_libraries(${SUITE}_tests PUBLIC failslow_testkit ${ARG_LIBRARIES})
  if(ARG_HIDDEN)
    target_compile_definitions(${SUITE}_tests PRIVATE FAILSLOW_HIDDEN=true)
  endif()
  add_executable(${SUITE}_sealed)
  target_link_libraries(${SUITE}_sealed PRIVATE ${SUITE}_tests failslow_main_sealed)
  add_executable(${SUITE}_sim)
  target_link_libraries(${SUITE}_sim PRIVATE ${SUITE}_tests failslow_main_sim ${ARG_LAB}_reference)
  gtest_discover_tests(${SUITE}_sim TEST_PREFIX sim. PROPERTIES TIMEOUT 300)
  gtest_discover_tests(${SUITE}_sealed TEST_PREFIX sealed.
    EXTRA_ARGS --replica=$<TARGET_FILE:${ARG_LAB}_replica> PROPERTIES TIMEOUT 300)
  add_dependencies(${SUITE}_sealed ${ARG_LAB}_replica)
  set(hidden false)
  if(ARG_HIDDEN)
    set(hidden true)
  endif()
  get_property(driver GLOBAL PROPERTY FAILSLOW_DRIVER_${ARG_LAB})
  set(libraries "")
  foreach(library ${ARG_LIBRARIES} failslow_main_sim failslow_testkit depfast_sim depfast_step
                  depfast GTest::gtest)
    string(APPEND libraries "\"$<TARGET_FILE:${library}>\", ")
  endforeach()
  set_property(GLOBAL APPEND PROPERTY FAILSLOW_SIMS
    "    \"${SUITE}\": {\"hidden\": ${hidden}, \"sources\": [${driver}], \"link\": [\"$<JOIN:$<TARGET_OBJECTS:${SUITE}_tests>,\", \">\", ${libraries}@SYSTEM_LINK@]}")
endfunction()

# Writes submission.json once every lab is known.
function(failslow_write_submission_json)
  get_property(replicas GLOBAL PROPERTY FAILSLOW_REPLICAS)
  get_property(reals GLOBAL PROPERTY FAILSLOW_REALS)
  get_property(sims GLOBAL PROPERTY FAILSLOW_SIMS)
  get_property(includes GLOBAL PROPERTY FAILSLOW_INCLUDES)
  list(JOIN replicas ",\n" replicas)
  list(JOIN reals ",\n" reals)
  list(JOIN sims ",\n" sims)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
  # A student's warning is not an error, and -Wconversion is our taste, not a requirement.
  list(APPEND flags -std=c++20 -Wall -Wextra -fstack-clash-protection
       -I${PROJECT_SOURCE_DIR}/framework/include)
  # A directory that the compiler searches anyway must not move: its #include_next would miss it.
  foreach(directory ${MSGPACK_INCLUDE} ${XXHASH_INCLUDE})
    if(NOT directory IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
      list(APPEND flags -isystem${directory})
    endif()
  endforeach()
  foreach(directory ${includes})
    list(APPEND flags -I${directory})
  endforeach()
  set(system "\"$<TARGET_FILE:Boost::context>\", \"-pthread\", \"-ldl\", \"-rdynamic\"")
  if(FAILSLOW_SANITIZE)
    list(APPEND flags -fsanitize=address,undefined -fno-sanitize-recover=all)
    string(APPEND system ", \"-fsanitize=address,undefined\"")
  endif()
  list(REMOVE_DUPLICATES flags)
  list(JOIN flags "\", \"" flags)
  set(json "{\n  \"compiler\": \"${CMAKE_CXX_COMPILER}\",\n  \"compile\": [\"${flags}\"],\n  \"replicas\": {\n${replicas}\n  },\n  \"reals\": {\n${reals}\n  },\n  \"sims\": {\n${sims}\n  }\n}\n")
  string(REPLACE "@SYSTEM_LINK@" "${system}" json "${json}")
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/submission.json CONTENT "${json}")
endfunction()
