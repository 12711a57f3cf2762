"""Every floor of src/ has its own CMake target and its own unit-test program."""

import re


def find(files):
    cmake, tests = files.get("CMakeLists.txt", ""), files.get("tests/CMakeLists.txt", "")
    declared = set(re.findall(r"^mayfly_floor\((\w+)", cmake, re.M))
    loop = re.search(r"foreach\(floor ([^)]*)\)", tests)
    tested = set(loop.group(1).split()) if loop else set()
    wrong = []
    if "add_library(mayfly_commands OBJECT" in cmake:
        declared.add("commands")
    floors = {p.split("/")[1] for p in files if re.match(r"src/\w+/.*\.(cc|h)$", p)}
    for floor in sorted(floors - declared):
        wrong.append(f"CMakeLists.txt: no target for src/{floor}: mayfly_floor({floor} ...)")
    units = {p.split("/")[2] for p in files if re.match(r"tests/unit/\w+/.*\.cc$", p)}
    for floor in sorted(units - tested):
        wrong.append(f"tests/CMakeLists.txt: tests/unit/{floor} is not in the list of unit tests")
    for floor in sorted(floors - units - {"commands", "net"}):
        wrong.append(f"tests/unit/{floor}: src/{floor} has no unit tests")
    return wrong


def selftest():
    files = {
        "CMakeLists.txt": "mayfly_floor(base)\nmayfly_floor(cache mayfly_base)\n",
        "tests/CMakeLists.txt": "  foreach(floor base cache)\n",
        "src/base/a.cc": "",
        "src/cache/a.h": "",
        "tests/unit/base/a_test.cc": "",
        "tests/unit/cache/a_test.cc": "",
    }
    assert find(files) == [], find(files)
    for extra in ("src/script/lua.cc", "tests/unit/script/lua_test.cc"):
        assert find(files | {extra: ""}), extra
    del files["tests/unit/cache/a_test.cc"]
    assert find(files)
