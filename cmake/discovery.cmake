# The labs of this checkout: the directories labs/*/ with a lab.yaml.
#
# `kit` reads lab.yaml and validates it (labs.py). CMake reads the four lines that it needs. Each
# must be one line: `id: WORD`, or `files: [WORD, WORD...]`, and `needs` and `replaces` likewise.

# Defines global properties: FAILSLOW_LABS, the ids of all labs in their order, in which numbers
# compare as numbers; and of each lab FAILSLOW_DIRECTORY_<lab>, FAILSLOW_FILES_<lab>,
# FAILSLOW_NEEDS_<lab> and FAILSLOW_REPLACES_<lab>.
function(failslow_find_labs)
  file(GLOB descriptions CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/labs/*/lab.yaml)
  list(SORT descriptions COMPARE NATURAL)
  set(ids "")
  foreach(description ${descriptions})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${description})
    cmake_path(GET description PARENT_PATH directory)
    cmake_path(GET directory FILENAME directory)
    failslow_lab_line(id ${description} id)
    set_property(GLOBAL PROPERTY FAILSLOW_DIRECTORY_${id} ${directory})
    foreach(key files needs replaces)
      failslow_lab_line(value ${description} ${key})
      string(TOUPPER ${key} property)
      set_property(GLOBAL PROPERTY FAILSLOW_${property}_${id} ${value})
    endforeach()
    list(APPEND ids ${id})
  endforeach()
  set_property(GLOBAL PROPERTY FAILSLOW_LABS ${ids})
endfunction()

# Sets VARIABLE to the words of KEY in a lab.yaml.
function(failslow_lab_line VARIABLE DESCRIPTION KEY)
  file(STRINGS ${DESCRIPTION} line REGEX "^${KEY}:")
  if(line MATCHES "^${KEY}: *([a-z0-9]+|\\[[^]]*\\]) *$")
    string(REGEX REPLACE "[][]" "" value "${CMAKE_MATCH_1}")
    string(REGEX MATCHALL "[^, ]+" words "${value}")
  elseif(KEY STREQUAL "replaces" AND NOT line)
    set(words "")
  else()
    message(FATAL_ERROR "${DESCRIPTION}: '${KEY}' must be on one line, without a comment")
  endif()
  set(${VARIABLE} ${words} PARENT_SCOPE)
endfunction()

# Sets VARIABLE to the lab after all that it needs, each once, without the labs that it replaces.
function(failslow_closure VARIABLE LAB)
  get_property(needs GLOBAL PROPERTY FAILSLOW_NEEDS_${LAB})
  get_property(replaces GLOBAL PROPERTY FAILSLOW_REPLACES_${LAB})
  set(closure "")
  foreach(needed ${needs})
    failslow_closure(under ${needed})
    list(APPEND closure ${under})
  endforeach()
  list(REMOVE_DUPLICATES closure)
  list(REMOVE_ITEM closure ${replaces})
  set(${VARIABLE} ${closure} ${LAB} PARENT_SCOPE)
endfunction()

# failslow_add_labs(DIRECTORY [below])
# Adds DIRECTORY/<directory of the lab> of each lab that has a CMakeLists.txt there, or `below` it.
function(failslow_add_labs DIRECTORY)
  get_property(labs GLOBAL PROPERTY FAILSLOW_LABS)
  foreach(lab ${labs})
    get_property(name GLOBAL PROPERTY FAILSLOW_DIRECTORY_${lab})
    set(place ${DIRECTORY}/${name})
    if(ARGN)
      string(APPEND place /${ARGN})
    endif()
    if(EXISTS ${PROJECT_SOURCE_DIR}/${place}/CMakeLists.txt)
      add_subdirectory(${PROJECT_SOURCE_DIR}/${place} ${PROJECT_BINARY_DIR}/${place})
    endif()
  endforeach()
endfunction()
