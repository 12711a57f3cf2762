# Runs the training and stamps the profiles that changed: cmake -D program=... -D folder=... -P run.cmake
# Where the training fails there is no profile, and the build goes on without.
include(${folder}/profiles.cmake)  # profiles, stamps: one for each source, in the same order
set(limit_s 120)

file(REMOVE ${profiles})  # a run adds to what it finds
execute_process(
  COMMAND ${program}
  RESULT_VARIABLE result
  OUTPUT_VARIABLE output
  ERROR_VARIABLE output
  TIMEOUT ${limit_s})
if(NOT result EQUAL 0)
  string(STRIP "${output}" output)
  string(REGEX REPLACE ".*\n" "" output "${output}")
  message(STATUS "mayfly: built without training, which failed: ${result} ${output}")
  file(REMOVE ${profiles})
endif()

foreach(profile stamp IN ZIP_LISTS profiles stamps)
  set(now "none")
  if(EXISTS ${profile})
    file(SHA256 ${profile} now)
  endif()
  set(before "")
  if(EXISTS ${stamp})
    file(READ ${stamp} before)
  endif()
  if(NOT now STREQUAL before)
    file(WRITE ${stamp} "${now}")
  endif()
endforeach()
file(TOUCH ${folder}/trained)
