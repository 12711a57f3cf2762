"""The project's files as the checks see them, and C++ text without its comments and strings."""

import os
import re

TOP_FOLDERS = ("src", "tests", "scripts", "conf", "docs", ".ci")
CODE = (".cc", ".h")


def load(root):
    """{path relative to root: text} of every file that is ours; unreadable bytes are replaced."""
    files = {}

    def add(path):
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            files[path] = file.read()

    for name in sorted(os.listdir(root)):
        if os.path.isfile(os.path.join(root, name)) and name not in (".git", "compile_commands.json"):
            add(name)
    for top in TOP_FOLDERS:
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders[:] = sorted(f for f in folders if f != "__pycache__")
            for name in sorted(names):
                add(os.path.relpath(os.path.join(folder, name), root))
    return files


def is_code(path):
    return path.endswith(CODE)


_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|(?:\b(?:u8|[uUL]))?R"(?P<tag>[^()\s\\]{0,16})\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'""",
    re.S,
)


def blank(text, strings=True):
    """The text with comments (and strings, when asked) turned into spaces: same length, same lines."""

    def erase(match):
        found = match.group(0)
        if not found.startswith("/") and not strings:
            return found
        if found.startswith("/") or len(found) < 2:
            return re.sub(r"[^\n]", " ", found)
        return found[0] + re.sub(r"[^\n]", " ", found[1:-1]) + found[-1]

    return _TOKEN.sub(erase, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
