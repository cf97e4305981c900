# The targets that a build compiles.

# Sets VARIABLE to the libraries and programs of DIRECTORY and of its subdirectories.
function(failslow_targets_below VARIABLE DIRECTORY)
  get_property(found DIRECTORY ${DIRECTORY} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(subdirectories DIRECTORY ${DIRECTORY} PROPERTY SUBDIRECTORIES)
  foreach(subdirectory ${subdirectories})
    failslow_targets_below(more ${subdirectory})
    list(APPEND found ${more})
  endforeach()
  set(compiled "")
  foreach(target ${found})
    get_target_property(type ${target} TYPE)
    get_target_property(never_built ${target} EXCLUDE_FROM_ALL)
    if(type MATCHES "^(EXECUTABLE|STATIC_LIBRARY|OBJECT_LIBRARY)$" AND NOT never_built)
      list(APPEND compiled ${target})
    endif()
  endforeach()
  set(${VARIABLE} ${compiled} PARENT_SCOPE)
endfunction()

# A batch of one source saves nothing, and hides its name in messages.
# Requires: every target of the tree is defined.
function(failslow_compile_single_sources_alone)
  failslow_targets_below(targets ${PROJECT_SOURCE_DIR})
  foreach(target ${targets})
    get_target_property(sources ${target} SOURCES)
    list(LENGTH sources count)
    if(count LESS 2)
      set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
    endif()
  endforeach()
endfunction()
