# Variants of a reference solution: patches that are built into programs of their own.

# failslow_patched_files(VARIABLE TREE PATCH file...)
# Sets VARIABLE to copies of the files in TREE, with the patch applied. A copy is at the place that
# the patch names: of a reference's file LAB/FILE, of another one its path in this kit.
function(failslow_patched_files VARIABLE TREE PATCH)
  set(made "")
  set(copies "")
  foreach(file ${ARGN})
    cmake_path(NORMAL_PATH file)
    set(name ${file})
    foreach(root ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
      string(REPLACE ${root}/reference-solutions/ "" name ${name})
      string(REPLACE ${root}/ "" name ${name})
    endforeach()
    cmake_path(GET name PARENT_PATH directory)
    list(APPEND made ${TREE}/${name})
    list(APPEND copies COMMAND ${CMAKE_COMMAND} -E make_directory ${TREE}/${directory}
                       COMMAND ${CMAKE_COMMAND} -E copy ${file} ${TREE}/${name})
  endforeach()
  add_custom_command(OUTPUT ${made} ${copies}
    COMMAND patch -p1 --fuzz=0 --batch --forward --silent -d ${TREE} -i ${PATCH}
    DEPENDS ${PATCH} ${ARGN}
    VERBATIM)
  set(${VARIABLE} ${made} PARENT_SCOPE)
endfunction()
