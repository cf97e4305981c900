# A reference solution may keep files as a change of an earlier lab's: *.patch beside its other
# files, with the lines `--- a/EARLIER/FILE` and `+++ b/LAB/FILE`. autograder/failslow/lab/reference.py
# reads them, too.

# failslow_changed_files(DIRECTORY): makes the files of reference-solutions/DIRECTORY that are such
# changes, in the same directory below the binary directory.
function(failslow_changed_files DIRECTORY)
  set(solutions ${PROJECT_SOURCE_DIR}/reference-solutions)
  set(made ${PROJECT_BINARY_DIR}/reference-solutions/${DIRECTORY})
  file(GLOB patches CONFIGURE_DEPENDS ${solutions}/${DIRECTORY}/*.patch)
  foreach(patch ${patches})
    file(STRINGS ${patch} origins REGEX "^--- a/")
    list(TRANSFORM origins REPLACE "^--- a/" "${solutions}/")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${patch} ${origins})
    file(COPY ${origins} DESTINATION ${made}/new)
    execute_process(COMMAND patch -p2 --fuzz=0 --batch --forward --silent -i ${patch}
      WORKING_DIRECTORY ${made}/new COMMAND_ERROR_IS_FATAL ANY)
    foreach(origin ${origins})
      cmake_path(GET origin FILENAME name)
      # An equal file keeps its time, so it is not compiled again.
      file(COPY_FILE ${made}/new/${name} ${made}/${name} ONLY_IF_DIFFERENT)
    endforeach()
    file(REMOVE_RECURSE ${made}/new)
  endforeach()
endfunction()
