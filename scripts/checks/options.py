"""docs/options.md is what scripts/options_page makes of conf/mayfly.conf, which explains every option."""

import itertools
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from conf_comments import blocks

CONF, PAGE = "conf/mayfly.conf", "docs/options.md"
BEGIN = "<!-- options: made by scripts/options_page -->\n"
END = "<!-- end of options -->\n"
# A word that Markdown would take for something else, or a name that a reader types.
_LITERAL = re.compile(r"[*_<>@|~\\]|^--|=\S|^%|^[a-z]+(?:-[a-z]+)+$")
_OUTER = re.compile(r"^([(\"']*)(.*?)([)\"',.;:]*)$", re.S)


def _word(word, names):
    before, inner, after = _OUTER.match(word).groups()
    if inner in names and "-" in inner:
        return f"{before}[`{inner}`](#{inner}){after}"
    return f"{before}`{inner}`{after}" if inner and "`" not in word and _LITERAL.search(inner) else word


def _filled(lines, names):
    """A paragraph in one piece: names as code, options and pages as links."""
    parts = re.split(r"(`[^`]*`)", " ".join(line.strip() for line in lines))
    for i in range(0, len(parts), 2):
        words = [_word(word, names) for word in parts[i].split(" ")]
        parts[i] = re.sub(r"\bdocs/(\w+\.md)", r"[\1](\1)", " ".join(words))
    return "".join(parts)


def _prose(lines, names):
    """The lines of a comment as Markdown: paragraphs, and indented lines as they stand."""
    made = []
    for kind, group in itertools.groupby(lines, lambda line: "gap" if not line.strip() else line.startswith("  ")):
        if kind == "gap":
            continue
        group = list(group)
        if not kind:
            made.append(_filled(group, names))
            continue
        margin = min(len(line) - len(line.lstrip()) for line in group)
        made.append("\n".join("    " + line[margin:] for line in group))
    return made


def markdown(text):
    """The options of a conf file as a page's sections."""
    read = list(blocks(text))[1:]  # the first explains the file
    names = {line.split()[0] for _, _, lines in read for line in lines}
    made = []
    for heading, comment, lines in read:
        if heading:
            made.append(f"## {heading}")
        if lines:
            here = [line.split()[0] for line in lines]
            made.append(f"### {', '.join(here)}")
            if len(here) > 1:
                made.append("".join(f'<a id="{name}"></a>' for name in here))
            made.append("\n".join("    " + line for line in lines))
        made += _prose(comment, names - {line.split()[0] for line in lines})
    return "\n" + "\n\n".join(made) + "\n\n"


def page_with(page, made):
    """The page with `made` between its two lines; None if they are missing."""
    begin, end = page.find(BEGIN), page.find(END)
    return None if begin < 0 or end < begin else page[: begin + len(BEGIN)] + made + page[end:]


def find(files):
    if CONF not in files or PAGE not in files:
        return [f"{CONF if CONF not in files else PAGE}: missing"]
    page = page_with(files[PAGE], markdown(files[CONF]))
    if page is None:
        return [f"{PAGE}: the two lines around the options are missing"]
    return [] if page == files[PAGE] else [f"{PAGE}: older than {CONF}; run scripts/options_page"]


def selftest():
    conf = (
        "# What this file is.\n\n# ------------ Memory\n\n# Most bytes, as max-keys; see docs/memory.md.\n#   auto  a part\n"
        'max-bytes 0\n\n# Two of a kind: * or `a b`.\nmax-keys 1\nmin-keys ""\n'
    )
    made = markdown(conf)
    assert made == (
        "\n## Memory\n\n### max-bytes\n\n    max-bytes 0\n\nMost bytes, as [`max-keys`](#max-keys); see [memory.md](memory.md).\n\n"
        '    auto  a part\n\n### max-keys, min-keys\n\n<a id="max-keys"></a><a id="min-keys"></a>\n\n    max-keys 1\n    min-keys ""\n\n'
        "Two of a kind: `*` or `a b`.\n\n"
    ), made
    page = "before\n" + BEGIN + made + END + "after\n"
    assert find({CONF: conf, PAGE: page}) == [], find({CONF: conf, PAGE: page})
    assert find({CONF: conf.replace("Most", "All"), PAGE: page}) == [f"{PAGE}: older than {CONF}; run scripts/options_page"]
    assert find({CONF: conf, PAGE: "no lines"}) and find({CONF: conf}) and find({PAGE: page})
