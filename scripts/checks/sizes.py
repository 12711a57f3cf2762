"""No file over 700 lines and no function over 70, unless `// long: <reason>` stands beside it.

A file's reason stands within its first 30 lines; a function's within the three lines above it or beside its name.
"""

import re

from source import blank, is_code, line_of

FILE_LINES = 700
FUNCTION_LINES = 70
_REASON = re.compile(r"(?://|#) long: \S+ \S+")
_SCOPE = re.compile(r"^\s*(?:inline\s+)?(?:namespace|extern\b(?!.*\()|(?:template\s*<.*>\s*)?(?:class|struct|union|enum))\b", re.S)
_LABELS = re.compile(r"^\s*(?:(?:public|private|protected)\s*:|#[^\n]*\n?|\s)*", re.S)


def _opens_scope(head):
    """Whether the braces after `head` hold declarations, not statements or values."""
    if not _SCOPE.match(head):
        return False
    # `struct stat Read() {` is a function that returns a struct; `class alignas(64) X {` is a class.
    return "(" not in re.sub(r"\b(?:alignas|__attribute__|decltype|noexcept)\s*\(+[^()]*\)+", "", head)


def functions(text):
    """(first line, line of the brace, last line) of every function body outside of other functions. Formatted code is assumed:
    a brace that touches the word before it starts a value (`count_{0}`), one after a space a body."""
    code = blank(text)
    code = re.sub(r"(?m)^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), code)
    found = []
    head_start, i = 0, 0
    while i < len(code):
        c = code[i]
        if c in ";}":
            head_start = i + 1
        elif c == "{":
            head = code[head_start:i]
            shift = _LABELS.match(head).end()
            start = head_start + shift
            head = head[shift:]
            if _opens_scope(head):
                head_start = i + 1
            else:
                close = _closing(code, i)
                is_value = i > 0 and (code[i - 1].isalnum() or code[i - 1] in "_>=,({")
                is_value = is_value or re.search(r"[^=!<>]=\s*$", head) or "(" not in head
                if not is_value:
                    found.append((line_of(code, start), line_of(code, i), line_of(code, close)))
                    head_start = close + 1
                i = close
        i += 1
    return found


def _closing(code, opening):
    depth = 0
    for i in range(opening, len(code)):
        depth += (code[i] == "{") - (code[i] == "}")
        if depth == 0:
            return i
    return len(code) - 1


def find(files):
    wrong = []
    for path, text in files.items():
        script = path.endswith(".py") or path.split("/")[0] in ("scripts", ".ci") or path.endswith("CMakeLists.txt")
        if not is_code(path) and not script:
            continue
        lines = text.split("\n")
        count = len(text.splitlines())
        if count > FILE_LINES and not any(_REASON.search(line) for line in lines[:30]):
            wrong.append(f"{path}: {count} lines; at most {FILE_LINES}, or a reason (`// long: why`) in its head")
        if not is_code(path):
            continue
        for first, brace, last in functions(text):
            size = last - first + 1
            if size > FUNCTION_LINES and not any(_REASON.search(line) for line in lines[max(0, first - 4) : brace]):
                wrong.append(f"{path}:{first}: a function of {size} lines; at most {FUNCTION_LINES}, or a reason beside it")
    return wrong


def selftest():
    def body(n):
        return "  Step();\n" * n

    sample = (
        "namespace mayfly {\nnamespace {\n\n"
        "constexpr Row kRows[] = {\n" + '    {"a", 1},\n' * 80 + "};\n\n"
        "struct Point {\n  int x = 0;\n" + "  int y();\n" * 90 + "  int Z() const { return 1; }\n};\n"
        "Loop::Loop(int a) : a_{a}, b_(a) {\n" + body(3) + "}\n"
        "}  // namespace\n}  // namespace mayfly\n"
    )
    assert find({"src/base/a.cc": sample}) == [], find({"src/base/a.cc": sample})
    assert len(functions(sample)) == 2, functions(sample)
    long_ones = [
        "int Main(int a) {\n" + body(70) + "}\n",
        "namespace a {\nstruct B {\n public:\n  void Run() const noexcept override {\n" + body(70) + "  }\n};\n}\n",
        'TEST_CASE("a } brace") {\n' + body(70) + "}\n",
        "A::A() : x_{1}, y_{2} {\n" + body(70) + "}\n",
        "struct stat Read(int fd) {\n" + body(70) + "}\n",
        "template <typename T>\nauto F(T t) -> int {\n" + body(70) + "}\n",
        "class X : public Y {\n  void F() {\n    auto l = [] {\n" + body(70) + "    };\n  }\n};\n",
        "int F(int a = {}) {\n" + body(70) + "}\n",
    ]
    for text in long_ones:
        assert len(find({"src/base/a.cc": text})) == 1, text[:80]
        excused = re.sub(r"(?m)^(?=.*\()", "// long: a table of cases\n", text, count=1)
        assert find({"src/base/a.cc": excused}) == [], text[:80]
    assert find({"src/base/a.cc": "int Main() {\n" + body(68) + "}\n"}) == []
    assert len(find({"src/base/a.h": "int a();\n" * 701})) == 1
    assert len(find({"scripts/x.py": "a = 1\n" * 701})) == 1
    assert find({"src/base/a.h": "// long: one idea, many rows\n" + "int a();\n" * 701}) == []
    assert len(find({"src/base/a.h": "// long:\n" + "int a();\n" * 701})) == 1
