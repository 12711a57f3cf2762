# The Debian package: `scripts/package` builds it with CPack from what is installed here.
#
# All of it belongs to the component debian, which `cmake --install` leaves out. Its paths begin at the root of the file
# system. The manual pages, the completions and the changelogs are made when CPack runs, in ${made}.
set(made ${PROJECT_BINARY_DIR}/package)
set(debian ${CMAKE_CURRENT_LIST_DIR})

# mayfly_package_files(folder file...): for instance usr/bin; RENAME name and PERMISSIONS as in install(FILES).
function(mayfly_package_files folder)
  install(FILES ${ARGN} DESTINATION ${folder} COMPONENT debian EXCLUDE_FROM_ALL)
endfunction()

# Debian's values of a few options; everything else in the file is a default. A line that is no longer there is an error.
file(READ ${PROJECT_SOURCE_DIR}/conf/mayfly.conf conf)
function(mayfly_debian_option line value)
  string(FIND "${conf}" "\n${line}\n" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "conf/mayfly.conf has no line \"${line}\"")
  endif()
  string(REPLACE "\n${line}\n" "\n${value}\n" changed "${conf}")
  set(conf "${changed}" PARENT_SCOPE)
endfunction()
mayfly_debian_option("bind * -::*" "bind 127.0.0.1 -::1")
mayfly_debian_option("dir ./" "dir /var/lib/mayfly")
mayfly_debian_option("logfile \"\"" "logfile /var/log/mayfly/mayfly.log")
# A restart or an upgrade begins with the keys of the last daemon. A cache whose disk is full goes on.
mayfly_debian_option("save \"\"" "save 3600 1")
mayfly_debian_option("stop-writes-on-bgsave-error yes" "stop-writes-on-bgsave-error no")
string(REPLACE "# Mayfly's options, each with its default. This file changes nothing as long as no line of it is changed."
               "# Mayfly's options, each with its default. Only bind, dir, logfile, save and stop-writes-on-bgsave-error have values of\n# this package: the keys are saved once an hour and at each stop. save \"\" turns that off."
               conf "${conf}")
file(CONFIGURE OUTPUT ${made}/mayfly.conf CONTENT "${conf}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/conf/mayfly.conf)

if(TARGET mayfly)
  install(TARGETS mayfly RUNTIME DESTINATION usr/bin COMPONENT debian EXCLUDE_FROM_ALL)
endif()
mayfly_package_files(etc/mayfly ${made}/mayfly.conf)
mayfly_package_files(etc/logrotate.d ${debian}/mayfly.logrotate RENAME mayfly)
mayfly_package_files(lib/systemd/system ${debian}/mayfly.service ${debian}/mayfly.socket)
mayfly_package_files(usr/share/doc/mayfly ${debian}/copyright ${made}/changelog.gz ${made}/changelog.Debian.gz)
mayfly_package_files(usr/share/lintian/overrides ${debian}/lintian-overrides RENAME mayfly)
mayfly_package_files(usr/share/man/man8 ${made}/mayfly.8.gz)
mayfly_package_files(usr/share/man/man5 ${made}/mayfly.conf.5.gz)
mayfly_package_files(usr/share/bash-completion/completions ${made}/mayfly.bash RENAME mayfly)
mayfly_package_files(usr/share/zsh/vendor-completions ${made}/mayfly.zsh RENAME _mayfly)
mayfly_package_files(usr/share/fish/vendor_completions.d ${made}/mayfly.fish)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mayfly)
set(CPACK_PACKAGE_CONTACT "$ENV{MAYFLY_MAINTAINER}")
if(NOT CPACK_PACKAGE_CONTACT)
  set(CPACK_PACKAGE_CONTACT "The Mayfly authors <mayfly@mayfly.invalid>")
endif()
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "cache server that speaks the Redis protocol")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "Mayfly keeps keys and values in memory, for any client of Redis: strings,
hashes, lists, sets, sorted sets, streams, transactions, scripts, pub/sub.
A timing wheel frees each key at its deadline. A restart keeps the keys.")
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL debian)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "logrotate")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "redis-tools")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${debian}/conffiles ${debian}/postinst ${debian}/prerm ${debian}/postrm)
include(CPack)
