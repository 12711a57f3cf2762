"""What only one C library or one processor has stays in src/base, behind a name of ours."""

import re

from source import blank, is_code, line_of

# GNU's additions to the C library: glibc alone has them, or other libraries give them another form.
_HEADERS = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*<((?:execinfo|error|malloc|mcheck|argp|obstack|printf|fts|libintl)\.h|gnu/[^>]*)>", re.M
)
_CALLS = re.compile(
    r"""(?<![\w.>])(?:::)?(
        malloc_(?:usable_size|trim|stats|info) | mallinfo2? | mallopt | memalign | p?valloc
        | backtrace(?:_symbols(?:_fd)?)? | gnu_get_libc_\w+
        | qsort_r | strerror_r | strerror(?:name|desc)_np | memmem | memrchr | rawmemchr | mempcpy | strchrnul
        | strverscmp | strfry | memfrob | v?asprintf | canonicalize_file_name | get_current_dir_name | fopencookie
        | getauxval | gettid | tgkill | secure_getenv | euidaccess | eaccess | pthread_\w+_np
    )\s*\(""",
    re.X,
)
_NAMES = re.compile(r"\b(program_invocation_(?:short_)?name|__GLIBC__|__GLIBC_MINOR__|_GNU_SOURCE)\b")
_PROCESSOR = re.compile(
    r"<(\w*mmintrin\.h|x86intrin\.h|x86gprintrin\.h|cpuid\.h|arm_(?:neon|acle|sve)\.h)>"
    r"|\b(_mm\d*_\w+|__builtin_ia32_\w+|__rdtscp?|__(?:x86_64|i386|aarch64|arm|SSE\w*|AVX\w*|ARM_\w+)__|asm)\b"
)


def find(files):
    wrong = []
    for path, text in files.items():
        if not path.startswith("src/") or path.startswith("src/base/") or not is_code(path):
            continue
        code = blank(text)
        for pattern in (_HEADERS, _CALLS, _NAMES, _PROCESSOR):
            what = "processor" if pattern is _PROCESSOR else "C library"
            for match in pattern.finditer(code):
                name = next(group for group in match.groups() if group)
                wrong.append(f"{path}:{line_of(text, match.start(0))}: {name} is of one {what} only: its place is src/base")
    return wrong


def selftest():
    good = (
        "#include <cerrno>\n// gettid() and memmem()\n"
        'Log("backtrace(1)");\nmap.memmem(1);\nthis->gettid();\nint my_gettid();\nstd::strerror(errno);\nasmuch(1);\n'
    )
    assert find({"src/net/a.cc": good}) == [], find({"src/net/a.cc": good})
    for line in (
        "#include <execinfo.h>",
        "#include <gnu/libc-version.h>",
        "#  include <error.h>",
        "malloc_usable_size(p);",
        "::gettid();",
        "auto* at = memmem (a, 1, b, 1);",
        "pthread_setname_np(pthread_self(), name);",
        "char* text = strerror_r(1, buffer, 9);",
        "Log(program_invocation_name);",
        "#ifdef __GLIBC__",
        "#include <immintrin.h>",
        "#include <arm_neon.h>",
        "auto x = _mm_set1_epi8(1);",
        "#if defined(__x86_64__)",
        'asm volatile("" : : "r"(address));',
    ):
        assert len(find({"src/net/a.cc": line + "\n"})) == 1, (line, find({"src/net/a.cc": line + "\n"}))
        assert find({"src/base/a.cc": line + "\n"}) == [], line
        assert find({"tests/unit/net/a.cc": line + "\n"}) == [], line
