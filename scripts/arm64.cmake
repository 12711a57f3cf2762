# CMake toolchain: a build for arm64, with the cross compiler of scripts/packages/arm64 and the libraries
# that scripts/unpack-packages puts into build/arm64-root. Tests run under qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

get_filename_component(target_root ${CMAKE_CURRENT_LIST_DIR}/../build/arm64-root REALPATH)
set(CMAKE_FIND_ROOT_PATH ${target_root} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
# Debian's compiler looks in such a folder for its own architecture only.
set(CMAKE_CXX_FLAGS_INIT "-isystem ${target_root}/usr/include/${CMAKE_LIBRARY_ARCHITECTURE}")

# pkg-config finds only the target's files, with their paths on this machine.
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${target_root})
set(ENV{PKG_CONFIG_LIBDIR} ${target_root}/usr/lib/aarch64-linux-gnu/pkgconfig:${target_root}/usr/share/pkgconfig)

# qemu finds the C library in the compiler's own folder; the programs' run paths lead to the unpacked libraries.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L /usr/aarch64-linux-gnu)
