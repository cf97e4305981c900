# The programs of a lab. CMake holds the one table of them. `kit` reads it by the file API
# (autograder/failslow/build/recipe.py) and builds the same programs for a submission.
#
#   <lab>_replica      a solution as a sealed replica, for grading
#   <lab>_real         the same as a process with sockets and a disk, for `kit cluster`
#   <suite>_sim        a suite of tests with a solution linked in, for sanitizers and gdb
#   <lab>_own_sim      a student's own tests, which `kit` adds, with the student's solution
#   <lab>_explore_sim  the exploration of a small scope, with a solution linked in
#   <lab>_measure      one run of its measurement, without code under test
#   <lab>_measured_sim the same with a submission linked in, for `kit replay`; never with a reference
#   <suite>_sealed     a suite without code under test, for grading
#
# All but the own tests and the sealed suites exist twice (failslow_program): with the reference
# solution, and as <name>_submission. A suite is named <lab>_public or <lab>_hidden. <lab> is the id
# in lab.yaml, which also lists the lab's files and the labs that it needs (discovery.cmake).
#
# With FAILSLOW_SIMULATION_ONLY there are the programs *_sim alone.
#
# A student's kit has no reference solution (`kit release students`). There the programs exist as
# <name>_submission alone, and no suite is sealed. Without clusters it has no <lab>_real: there is no
# library depfast_real.

set(FAILSLOW_REFERENCE OFF)
if(EXISTS ${PROJECT_SOURCE_DIR}/reference-solutions)
  set(FAILSLOW_REFERENCE ON)
endif()

# Never built: its compile options are those of a submission. A student's warning is not an error,
# and -Wconversion is our taste, not a requirement.
add_library(submission OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/empty.cc)
set_target_properties(submission PROPERTIES
  UNITY_BUILD OFF
  COMPILE_OPTIONS "-Wall;-Wextra;${FAILSLOW_CODE_FLAGS}")
target_link_libraries(submission PRIVATE depfast)

# failslow_program(<lab>_replica SOLUTION ID LIBRARIES lib...)
# Defines two targets:
#   <lab>_replica             the program with the reference solution, if there is one
#   <lab>_replica_submission  never built: the sources around a student's files, and the libraries
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
  set_target_properties(${NAME}_submission PROPERTIES UNITY_BUILD OFF)
  target_link_libraries(${NAME}_submission PRIVATE ${ARG_LIBRARIES} ${contract})
endfunction()

# failslow_lab(ID DRIVER driver.cc... LIBRARIES contract...
#              [REAL lib...] [REAL_DRIVER driver.cc...])
# DRIVER: the given sources around the student's files, compiled with every submission.
# LIBRARIES: given code that does not depend on the student's; its headers are the contract.
# REAL: libraries that only the process with sockets and a disk needs.
# REAL_DRIVER: given sources that this process has instead of DRIVER.
# Defines the programs of a replica. With a reference: <lab>_reference, the reference solution with
# its driver, and <lab>_solution without it, too.
function(failslow_lab LAB)
  cmake_parse_arguments(ARG "" "" "DRIVER;LIBRARIES;REAL;REAL_DRIVER" ${ARGN})
  if(FAILSLOW_REFERENCE)
    failslow_solution(${LAB} "${ARG_LIBRARIES}")
  endif()
  target_link_libraries(submission PRIVATE ${ARG_LIBRARIES})
  failslow_driver(${LAB} SOURCES ${ARG_DRIVER} LIBRARIES ${ARG_LIBRARIES})
  add_custom_target(${LAB}_grading)
  if(FAILSLOW_SIMULATION_ONLY)
    return()
  endif()
  failslow_program(${LAB}_replica SOLUTION ${LAB} LIBRARIES depfast_sealed_replica)
  if(TARGET depfast_real)
    set(real ${LAB})
    if(ARG_REAL_DRIVER)
      set(real ${LAB}_process)
      failslow_driver(${real} LAB ${LAB} SOURCES ${ARG_REAL_DRIVER} LIBRARIES ${ARG_LIBRARIES})
    endif()
    failslow_program(${LAB}_real SOLUTION ${real} LIBRARIES ${ARG_REAL} depfast_real_replica)
  endif()
  add_dependencies(${LAB}_grading
    sandboxes depfast_sealed_replica ${ARG_LIBRARIES})
  add_dependencies(grading ${LAB}_grading)
endfunction()

# <lab>_solution: the reference's files of the lab. A needed lab is linked. It is compiled again if
# it needs a lab that this one replaces.
function(failslow_solution LAB LIBRARIES)
  get_property(replaces GLOBAL PROPERTY FAILSLOW_REPLACES_${LAB})
  get_property(own GLOBAL PROPERTY FAILSLOW_DIRECTORY_${LAB})
  failslow_changed_files(${own})
  failslow_closure(closure ${LAB})
  add_library(${LAB}_solution STATIC)
  set_target_properties(${LAB}_solution PROPERTIES UNITY_BUILD OFF)  # as a submission is compiled
  target_link_libraries(${LAB}_solution PUBLIC ${LIBRARIES} depfast)
  list(REVERSE closure)  # the lab's own headers are found first
  foreach(each ${closure})
    failslow_closure(under ${each})
    set(kept ${under})
    list(REMOVE_ITEM kept ${replaces})
    if(each STREQUAL LAB OR NOT kept STREQUAL under)
      failslow_reference_sources(sources ${each})
      get_property(directory GLOBAL PROPERTY FAILSLOW_DIRECTORY_${each})
      target_sources(${LAB}_solution PRIVATE ${sources})
      target_include_directories(${LAB}_solution
        PUBLIC ${PROJECT_SOURCE_DIR}/reference-solutions/${directory}
               ${PROJECT_BINARY_DIR}/reference-solutions/${directory})
    else()
      target_link_libraries(${LAB}_solution PUBLIC ${each}_solution)
    endif()
  endforeach()
endfunction()

# Sets VARIABLE to the files of a lab that are compiled, as the reference has them. A file that is
# not there is made by a change of an earlier lab's (changes.cmake).
function(failslow_reference_sources VARIABLE LAB)
  get_property(directory GLOBAL PROPERTY FAILSLOW_DIRECTORY_${LAB})
  get_property(files GLOBAL PROPERTY FAILSLOW_FILES_${LAB})
  list(FILTER files INCLUDE REGEX "[.]cc$")
  set(sources "")
  foreach(file ${files})
    if(EXISTS ${PROJECT_SOURCE_DIR}/reference-solutions/${directory}/${file})
      list(APPEND sources ${PROJECT_SOURCE_DIR}/reference-solutions/${directory}/${file})
    else()
      list(APPEND sources ${PROJECT_BINARY_DIR}/reference-solutions/${directory}/${file})
    endif()
  endforeach()
  set(${VARIABLE} ${sources} PARENT_SCOPE)
endfunction()

# The given sources around a solution. With a reference: <name>_reference, both of them.
function(failslow_driver NAME)
  cmake_parse_arguments(ARG "" "LAB" "SOURCES;LIBRARIES" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL PROPERTY FAILSLOW_DRIVER_${NAME} ${ARG_SOURCES})
  set_property(GLOBAL PROPERTY FAILSLOW_CONTRACT_${NAME} ${ARG_LIBRARIES})
  if(FAILSLOW_REFERENCE)
    set(lab ${NAME})
    if(ARG_LAB)
      set(lab ${ARG_LAB})
    endif()
    add_library(${NAME}_reference OBJECT ${ARG_SOURCES})
    failslow_batch(${NAME}_reference)
    target_link_libraries(${NAME}_reference PUBLIC ${lab}_solution)
  endif()
endfunction()

# failslow_answers(NAME SOURCES source... LIBRARIES lib...)
# Code of labs/LAB/answers that a lab gives compiled alone: it answers this lab, or another one.
# `kit release students` finds these libraries by this call. It gives no source of the directory:
# students get NAME.tar.xz in a directory that is named after its processor. The name begins with the
# system if that is not Linux.
function(failslow_answers NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  list(GET ARG_SOURCES 0 first)
  if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${first})
    set(platform ${CMAKE_SYSTEM_PROCESSOR})
    if(NOT CMAKE_SYSTEM_NAME STREQUAL Linux)
      set(platform ${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
    endif()
    set(library ${CMAKE_CURRENT_SOURCE_DIR}/${platform}/${NAME}.tar.xz)
    add_library(${NAME} STATIC IMPORTED GLOBAL)
    if(EXISTS ${library})  # without it `kit` names the processors that have one
      add_custom_command(OUTPUT lib${NAME}.a DEPENDS ${library}
        COMMAND ${CMAKE_COMMAND} -E tar xf ${library}
        COMMAND ${CMAKE_COMMAND} -E touch lib${NAME}.a)
      set(library ${CMAKE_CURRENT_BINARY_DIR}/lib${NAME}.a)
      add_custom_target(${NAME}_unpacked DEPENDS ${library})
      add_dependencies(${NAME} ${NAME}_unpacked)
    endif()
    set_target_properties(${NAME} PROPERTIES IMPORTED_LOCATION ${library})
    target_link_libraries(${NAME} INTERFACE ${ARG_LIBRARIES})
    return()
  endif()
  add_library(${NAME} STATIC ${ARG_SOURCES})
  target_link_libraries(${NAME} PUBLIC ${ARG_LIBRARIES})
  # A debugger knows functions and lines by name, and no directory of this checkout. A precompiled
  # header would have to be compiled with the same options.
  set_target_properties(${NAME} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  target_compile_options(${NAME} PRIVATE
    $<$<CONFIG:Release>:-g1> -fdebug-prefix-map=${PROJECT_SOURCE_DIR}=.)
endfunction()

# failslow_exploration(ID SOURCES explore.cc... LIBRARIES helper...)
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

# failslow_measure(ID SOURCES measured.cc LIBRARIES helper...)
# Defines <lab>_measure and <lab>_measured_sim_submission: one run of a measurement. SOURCES define
# MeasuredSubjects (subject.h).
function(failslow_measure LAB)
  if(FAILSLOW_SIMULATION_ONLY)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_library(${LAB}_measured OBJECT ${ARG_SOURCES})
  target_link_libraries(${LAB}_measured PUBLIC ${ARG_LIBRARIES} failslow_measure)
  add_executable(${LAB}_measure)
  target_link_libraries(${LAB}_measure PRIVATE ${LAB}_measured failslow_main_measure)
  failslow_submission_program(${LAB}_measured_sim SOLUTION ${LAB}
    LIBRARIES ${LAB}_measured failslow_main_measured_sim)
  add_dependencies(${LAB}_grading ${LAB}_measure)
endfunction()

# failslow_client(NAME SOURCES client.cc... LOAD load.cc... LIBRARIES contract...)
# Defines an object library that registers a protocol (protocol.h): its SOURCES for the tool that
# submits a command, its LOAD for the one that loads a cluster, which students have not.
function(failslow_client NAME)
  if(NOT TARGET depfast_real)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LOAD;LIBRARIES" ${ARGN})
  add_library(${NAME} OBJECT ${ARG_SOURCES})
  target_link_libraries(${NAME} PUBLIC ${ARG_LIBRARIES} labs_client)
  if(TARGET labs_load)
    target_sources(${NAME} PRIVATE ${ARG_LOAD})
    target_link_libraries(${NAME} PUBLIC labs_load)
  endif()
  set_property(GLOBAL APPEND PROPERTY FAILSLOW_CLIENTS ${NAME})
endfunction()

# failslow_suite(<lab>_public LAB ID SOURCES tests.cc... LIBRARIES helper...)
function(failslow_suite SUITE)
  cmake_parse_arguments(ARG "" "LAB" "SOURCES;LIBRARIES" ${ARGN})
  add_library(${SUITE}_tests OBJECT ${ARG_SOURCES})
  target_link_libraries(${SUITE}_tests PUBLIC ${ARG_LIBRARIES} failslow_testkit)
  failslow_batch(${SUITE}_tests)
  failslow_compile_lightly(${SUITE}_tests)
  if(SUITE MATCHES "_hidden$")
    target_compile_definitions(${SUITE}_tests PRIVATE FAILSLOW_HIDDEN=true)
  endif()
  failslow_program(${SUITE}_sim SOLUTION ${ARG_LAB} LIBRARIES ${SUITE}_tests failslow_main_sim)
  if(SUITE MATCHES "_public$")
    failslow_submission_program(${ARG_LAB}_own_sim SOLUTION ${ARG_LAB}
      LIBRARIES ${ARG_LIBRARIES} failslow_main_sim)
  endif()
  if(NOT FAILSLOW_REFERENCE OR FAILSLOW_SIMULATION_ONLY)
    return()
  endif()
  add_executable(${SUITE}_sealed)
  target_link_libraries(${SUITE}_sealed PRIVATE ${SUITE}_tests failslow_main_sealed)
  add_dependencies(${ARG_LAB}_grading ${SUITE}_sealed)
  set(graded "")
  if(SUITE MATCHES "_(public|hidden)$")
    set(graded GRADED)
  endif()
  failslow_test(${SUITE}_sim ${graded} PREFIX sim. TIMEOUT 300)
  failslow_test(${SUITE}_sealed ${graded} PREFIX sealed. TIMEOUT 300
    ARGUMENTS --replica=$<TARGET_FILE:${ARG_LAB}_replica> NEEDS ${ARG_LAB}_replica)
endfunction()
