# The id of a build, redis_build_id of INFO: a hash of the source. The same source has the same id wherever it is built, in a checkout
# or without .git; a change that nobody has committed makes another one.
#
#   cmake -D root=<folder> -D output=<file> -P build_id.cmake      writes a source that defines mayfly::kBuildId
#
# In CMakeLists.txt: mayfly_hashed_files(root files) sets `files` to what the id depends on, as paths within the root.
function(mayfly_hashed_files root files)
  set(again CONFIGURE_DEPENDS)
  if(CMAKE_SCRIPT_MODE_FILE)
    set(again)
  endif()
  file(GLOB_RECURSE found ${again} RELATIVE ${root} ${root}/src/*)
  list(FILTER found INCLUDE REGEX "\\.(cc|h|in|html|css|js)$")
  set(${files} CMakeLists.txt ${found} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  mayfly_hashed_files(${root} files)
  foreach(name ${files})
    file(SHA256 ${root}/${name} hash)
    string(APPEND all "${hash} ${name}\n")
  endforeach()
  string(SHA256 id "${all}")
  string(SUBSTRING ${id} 0 16 id)
  file(WRITE ${output} "namespace mayfly {\nextern const char kBuildId[];\nconst char kBuildId[] = \"${id}\";\n}\n")
endif()
