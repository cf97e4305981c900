# The programs of a lab. CMake holds the one table of them. `kit` reads it by the file API
# (autograder/failslow/recipe.py) and builds the same programs for a submission.
#
#   <lab>_replica      a solution as a sealed replica, for grading
#   <lab>_real         the same as a process with sockets and a disk, for `kit cluster`
#   <suite>_sim        a suite of tests with a solution linked in, for sanitizers and gdb
#   <lab>_own_sim      a student's own tests, which `kit` adds, with the student's solution
#   <lab>_explore_sim  the exploration of a small scope, with a solution linked in
#   <suite>_sealed     a suite without code under test, for grading
#
# All but the own tests and the sealed suites exist twice (failslow_program): with the reference solution, and as
# <name>_submission. A suite is named <lab>_public or <lab>_hidden.
#
# A student's kit has no reference solution (`kit release students`). There the programs exist as
# <name>_submission alone, and no suite is sealed.

set(FAILSLOW_REFERENCE OFF)
if(EXISTS ${PROJECT_SOURCE_DIR}/reference-solutions)
  set(FAILSLOW_REFERENCE ON)
endif()

# Never built: its compile options are those of a submission. A student's warning is not an error,
# and -Wconversion is our taste, not a requirement.
add_library(submission OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/empty.cc)
set_target_properties(submission PROPERTIES
  COMPILE_OPTIONS "-Wall;-Wextra;${FAILSLOW_CODE_FLAGS}")
target_link_libraries(submission PRIVATE depfast)

# failslow_program(lab2_replica SOLUTION lab2 LIBRARIES lib...)
# Defines two targets:
#   lab2_replica             the program with the reference solution, if there is one
#   lab2_replica_submission  never built: the sources around a student's files, and the libraries
# The first library that has a main function gives the program its own.
function(failslow_program NAME)
  cmake_parse_arguments(ARG "" "SOLUTION" "LIBRARIES" ${ARGN})
  if(FAILSLOW_REFERENCE)
    add_executable(${NAME})
    target_link_libraries(${NAME} PRIVATE ${ARG_LIBRARIES} ${ARG_SOLUTION}_reference)
  endif()
  failslow_submission_program(${NAME} SOLUTION ${ARG_SOLUTION} LIBRARIES ${ARG_LIBRARIES})
endfunction()

# The second of them.
function(failslow_submission_program NAME)
  cmake_parse_arguments(ARG "" "SOLUTION" "LIBRARIES" ${ARGN})
  get_property(driver GLOBAL PROPERTY FAILSLOW_DRIVER_${ARG_SOLUTION})
  get_property(contract GLOBAL PROPERTY FAILSLOW_CONTRACT_${ARG_SOLUTION})
  add_executable(${NAME}_submission EXCLUDE_FROM_ALL ${driver})
  target_link_libraries(${NAME}_submission PRIVATE ${ARG_LIBRARIES} ${contract})
endfunction()

# failslow_lab(lab2 DIRECTORY lab2-raft DRIVER driver.cc... SOURCES raft.cc LIBRARIES raft_contract
#              NEEDS lab1 REAL lib... REAL_DRIVER driver.cc... REAL_SOURCES earlier.cc...)
# DRIVER: the given sources around the student's files, compiled with every submission.
# SOURCES: the student's files that are compiled. NEEDS: earlier labs whose files they use.
# LIBRARIES: given code that does not depend on the student's; its headers are the contract.
# REAL: libraries that only the process with sockets and a disk needs.
# REAL_DRIVER: given sources that this process has instead of DRIVER. REAL_SOURCES: reference files
# of earlier labs that the student's files stand for there.
# Defines the programs of a replica. With a reference: lab2_reference, the reference solution with
# its driver, and lab2_solution without it, too.
function(failslow_lab LAB)
  cmake_parse_arguments(ARG "" "DIRECTORY" "DRIVER;SOURCES;LIBRARIES;NEEDS;REAL;REAL_DRIVER;REAL_SOURCES" ${ARGN})
  list(TRANSFORM ARG_DRIVER PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  if(FAILSLOW_REFERENCE)
    set(reference ${PROJECT_SOURCE_DIR}/reference-solutions/${ARG_DIRECTORY})
    list(TRANSFORM ARG_SOURCES PREPEND ${reference}/)
    list(TRANSFORM ARG_NEEDS APPEND _solution)
    add_library(${LAB}_solution STATIC ${ARG_SOURCES})
    target_include_directories(${LAB}_solution PUBLIC ${reference})
    target_link_libraries(${LAB}_solution PUBLIC ${ARG_LIBRARIES} ${ARG_NEEDS} depfast)
    add_library(${LAB}_reference OBJECT ${ARG_DRIVER})
    target_link_libraries(${LAB}_reference PUBLIC ${LAB}_solution)
  endif()
  target_link_libraries(submission PRIVATE ${ARG_LIBRARIES})
  set_property(GLOBAL PROPERTY FAILSLOW_DRIVER_${LAB} ${ARG_DRIVER})
  set_property(GLOBAL PROPERTY FAILSLOW_CONTRACT_${LAB} ${ARG_LIBRARIES})
  failslow_program(${LAB}_replica SOLUTION ${LAB} LIBRARIES depfast_sealed_replica)
  set(real ${LAB})
  if(ARG_REAL_DRIVER)
    set(real ${LAB}_process)
    list(TRANSFORM ARG_REAL_DRIVER PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    if(FAILSLOW_REFERENCE)
      list(TRANSFORM ARG_REAL_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/reference-solutions/)
      add_library(${real}_reference OBJECT ${ARG_REAL_DRIVER} ${ARG_REAL_SOURCES})
      target_link_libraries(${real}_reference PUBLIC ${LAB}_solution ${ARG_REAL})
      foreach(source ${ARG_REAL_SOURCES})
        cmake_path(GET source PARENT_PATH directory)
        target_include_directories(${real}_reference PRIVATE ${directory})
      endforeach()
    endif()
    set_property(GLOBAL PROPERTY FAILSLOW_DRIVER_${real} ${ARG_REAL_DRIVER})
    set_property(GLOBAL PROPERTY FAILSLOW_CONTRACT_${real} ${ARG_LIBRARIES})
  endif()
  failslow_program(${LAB}_real SOLUTION ${real} LIBRARIES ${ARG_REAL} depfast_real_replica)
  add_dependencies(grading depfast_sealed_replica ${ARG_LIBRARIES})
endfunction()

# failslow_exploration(lab2 SOURCES explore.cc... LIBRARIES helper...)
# Defines the program <lab>_explore_sim: a test that explores a small scope, for `kit explore`.
function(failslow_exploration LAB)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_library(${LAB}_explore_tests OBJECT ${ARG_SOURCES})
  target_link_libraries(${LAB}_explore_tests PUBLIC ${ARG_LIBRARIES} failslow_testkit)
  failslow_program(${LAB}_explore_sim SOLUTION ${LAB}
    LIBRARIES ${LAB}_explore_tests failslow_main_sim)
  if(FAILSLOW_REFERENCE)
    failslow_test(${LAB}_explore_sim PREFIX sim. TIMEOUT 300)
  endif()
endfunction()

# failslow_suite(lab1_public LAB lab1 SOURCES tests.cc... LIBRARIES helper...)
function(failslow_suite SUITE)
  cmake_parse_arguments(ARG "" "LAB" "SOURCES;LIBRARIES" ${ARGN})
  add_library(${SUITE}_tests OBJECT ${ARG_SOURCES})
  target_link_libraries(${SUITE}_tests PUBLIC ${ARG_LIBRARIES} failslow_testkit)
  if(SUITE MATCHES "_hidden$")
    target_compile_definitions(${SUITE}_tests PRIVATE FAILSLOW_HIDDEN=true)
  endif()
  failslow_program(${SUITE}_sim SOLUTION ${ARG_LAB} LIBRARIES ${SUITE}_tests failslow_main_sim)
  if(SUITE MATCHES "_public$")
    failslow_submission_program(${ARG_LAB}_own_sim SOLUTION ${ARG_LAB}
      LIBRARIES ${ARG_LIBRARIES} failslow_main_sim)
  endif()
  if(NOT FAILSLOW_REFERENCE)
    return()
  endif()
  add_executable(${SUITE}_sealed)
  target_link_libraries(${SUITE}_sealed PRIVATE ${SUITE}_tests failslow_main_sealed)
  add_dependencies(grading ${SUITE}_sealed)
  failslow_test(${SUITE}_sim PREFIX sim. TIMEOUT 300)
  failslow_test(${SUITE}_sealed PREFIX sealed. TIMEOUT 300
    ARGUMENTS --replica=$<TARGET_FILE:${ARG_LAB}_replica> NEEDS ${ARG_LAB}_replica)
endfunction()
