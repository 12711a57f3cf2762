"""The pages for users: links lead somewhere, no sentence stands twice, the front page is short, and pages can be found.

Looked at are README.md, docs/, tests/README.md, tests/bench/README.md and src/README.md. A page of docs/ has a section
"Contents" whose links are its other sections, in their order, and docs/README.md links to it.
"""

import os
import re

FRONT, MAP = "README.md", "docs/README.md"
OTHERS = ("tests/README.md", "tests/bench/README.md", "src/README.md")
FRONT_BYTES = 14 * 1024
SENTENCE_WORDS = 8

_CODE = re.compile(r"^(```.*?^```|(?:(?<=\n\n)(?: {4}[^\n]*\n\n?)+))", re.M | re.S)
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
_HEADING = re.compile(r"^(#{1,6}) (.+?)\s*$", re.M)
_ANCHOR = re.compile(r'<a id="([^"]+)">')
# Made from tables or measured: rows may repeat. The options are made from prose.
_MADE = re.compile(r"<!-- (?!options:)([^:]+): made by .*?<!-- end of \1 -->", re.S)


def _pages(files):
    """{path: text} of the pages, without their code blocks, whose lines are left empty."""
    named = [p for p in files if p == FRONT or p in OTHERS or re.match(r"docs/.*\.md$", p)]
    return {p: _CODE.sub(lambda m: "\n" * m.group(0).count("\n"), files[p] + "\n") for p in named}


def anchor(heading):
    """The anchor that GitHub gives to a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def _anchors(text):
    found, counts = set(_ANCHOR.findall(text)), {}
    for _, heading in _HEADING.findall(text):
        name = anchor(heading)
        found.add(f"{name}-{counts[name]}" if counts.get(name) else name)
        counts[name] = counts.get(name, 0) + 1
    return found


def _targets(path, text):
    """(line, what is written, path of the file, anchor) of each link to a file of the project."""
    without = re.sub(r"`[^`\n]*`", lambda m: re.sub(r"[\[\]()]", " ", m.group(0)), text)
    for match in _LINK.finditer(without):
        target = match.group(1)
        if re.match(r"[a-z]+:", target):
            continue
        name, _, at = target.partition("#")
        to = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        yield text.count("\n", 0, match.start()) + 1, target, to, at


def _broken_links(files, pages):
    folders = {"/".join(p.split("/")[:i]) for p in files for i in range(1, p.count("/") + 1)}
    for path, text in pages.items():
        for line, target, to, at in _targets(path, text):
            if to not in files and to not in folders:
                yield f"{path}:{line}: there is no {target}"
            elif at and (to not in pages or at not in _anchors(pages[to])):
                yield f"{path}:{line}: there is no section {target}"


def _paragraphs(text):
    """(line, text) of each paragraph, item of a list and cell of a table."""
    text = _MADE.sub(lambda m: "\n" * m.group(0).count("\n"), text)
    start, lines = 0, []
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if lines and (not line.strip() or re.match(r"[|#>-]|\s*(?:[*-]|\d+\.) |<!--", line)):
            yield start, " ".join(lines)
            lines = []
        if line.startswith("|"):
            yield from ((number, cell) for cell in re.split(r"(?<!\\)\|", line))
        elif line.strip() and not line.startswith(("#", "<!--")):
            start = start if lines else number
            lines.append(line.strip())


def _sentences(text):
    """(line, sentence) of the prose, in lower case and without marks."""
    for line, paragraph in _paragraphs(text):
        plain = re.sub(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)", r"\1", re.sub(r"</?a\b[^>]*>", "", paragraph))
        for sentence in re.split(r"(?<=[.:;!?])\s+", plain):
            words = [word.strip(".*-'") for word in re.findall(r"[\w'%.\-/*]+", sentence.lower())]
            words = [word for word in words if word]
            if len(words) >= SENTENCE_WORDS:
                yield line, " ".join(words)


def _repeated(pages):
    first = {}
    for path in sorted(p for p in pages if p == FRONT or p.startswith("docs/")):
        for line, sentence in _sentences(pages[path]):
            if sentence in first:
                yield f"{path}:{line}: stands in {first[sentence]} as well: {sentence[:80]}"
            else:
                first[sentence] = f"{path}:{line}"


def _contents(path, text):
    headings = [title for marks, title in _HEADING.findall(text) if marks == "##"]
    if headings[:1] != ["Contents"]:
        return [f"{path}: the first section is not Contents"]
    listed = re.search(r"^## Contents\s*\n(.*?)(?=^## |\Z)", text, re.M | re.S).group(1)
    links = re.findall(r"^- \[(.+)\]\(#([^)]+)\)$", listed, re.M)
    wanted = [(title, anchor(title)) for title in headings[1:]]
    if links == wanted:
        return []
    missing = [title for title, _ in wanted if title not in dict(links)]
    extra = [title for title, _ in links if title not in dict(wanted)]
    what = [f"lacks {', '.join(missing)}"] * bool(missing) + [f"has {', '.join(extra)}"] * bool(extra)
    return [f"{path}: Contents {' and '.join(what) or 'is in another order, or links elsewhere'}"]


def find(files):
    wrong = [f"{path}: missing" for path in (FRONT, MAP) if path not in files]
    pages = _pages(files)
    if FRONT in files and len(files[FRONT].encode()) > FRONT_BYTES:
        wrong.append(f"{FRONT}: {len(files[FRONT].encode())} bytes; at most {FRONT_BYTES}")
    wrong += _broken_links(files, pages)
    wrong += _repeated(pages)
    found = {to for _, _, to, _ in _targets(MAP, pages.get(MAP, ""))}
    for path, text in pages.items():
        if path.startswith("docs/"):
            wrong += _contents(path, text)
            if path not in found | {MAP}:
                wrong.append(f"{MAP}: no link to {path}")
    return wrong


def selftest():
    page = (
        "# A page\n\nWhat for.\n\n## Contents\n\n- [One way](#one-way)\n- [`TAKE`, twice](#take-twice)\n\n## One way\n\n"
        "See [src](../src), [it](#take-twice), [b](b.md#own), [web](https://a.b/c) and `[no](link)`.\n\n    [code](none.md) is\n    not read\n\n"
        "The first sentence of eight words stands here. A short one twice. A short one twice.\n\n"
        "```\n## no heading\n```\n\n## `TAKE`, twice\n\n| a | b |\n|---|---|\n| A cell has its own sentence of eight words | x |\n"
    )
    other = '# B\n\n## Contents\n\n- [C](#c)\n\n## C\n\n<a id="own"></a>\nText.\n'
    good = {"README.md": "[docs](docs/README.md)\n", MAP: "# All\n\n## Contents\n\n- [D](#d)\n\n## D\n\n[a](a.md), [b](b.md)\n", "docs/a.md": page, "docs/b.md": other, "src/x.cc": ""}
    assert find(good) == [], find(good)

    def bad(path, old, new, complaint):
        assert old in good[path], old
        said = find(good | {path: good[path].replace(old, new, 1)})
        assert len(said) == 1 and complaint in said[0], (said, complaint)

    bad("docs/a.md", "../src", "../gone", "there is no ../gone")
    bad("docs/a.md", "[it](#take-twice)", "[it](#take)", "there is no section #take")
    bad("docs/a.md", "b.md#own", "b.md#c2", "there is no section b.md#c2")
    bad("docs/a.md", "- [One way](#one-way)\n", "", "lacks One way")
    bad("docs/a.md", "## One way", "## One way\n\n## Another", "lacks Another")
    bad("docs/b.md", "## Contents\n\n- [C](#c)\n\n", "", "the first section is not Contents")
    bad("docs/b.md", "Text.", "The *first* sentence of eight\nwords stands here.", "stands in docs/a.md:")
    bad("docs/b.md", "Text.", "a cell has its own sentence of eight words.", "stands in docs/a.md:")
    bad(MAP, ", [b](b.md)", "", "no link to docs/b.md")
    bad("README.md", "\n", "\n" + "x" * FRONT_BYTES, "bytes; at most")
    assert find({}) and anchor("Redis's `--flag` & [more](x.md)") == "rediss---flag--more"
