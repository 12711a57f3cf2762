// The only translation unit that compiles Catch2's main; version 3 has one in a library of its own.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
