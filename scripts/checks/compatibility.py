"""docs/coming-from-redis.md says truly how many commands of other servers Mayfly has, and why the rest is absent.

The other servers' commands are in kept lists, tests/commands/lists: a line for each command or subcommand ("client|id"), with the
release that brought it. scripts/compatibility makes the lists from the servers, and the page's part from the lists. What Mayfly has
is read from docs/commands.md, which a test compares with the program's own table.
"""

import re

PAGE, COMMANDS, LISTS = "docs/coming-from-redis.md", "docs/commands.md", "tests/commands/lists/{}.txt"
BEGIN = "<!-- compatibility: made by scripts/compatibility -->\n"
END = "<!-- end of compatibility -->\n"
# A kept list for each program. `since` of a command of a module is "-": COMMAND DOCS has none.
REDIS, VALKEY = "redis-8.0", "valkey-8.0"
MODULE = "-"
# What is absent -> why. Each name has to be absent in truth.
REASONS = {
    "There is no append-only file.": ("bgrewriteaof",),
    "Scripts have no debugger.": ("script|debug",),
    "Vector sets are a module's type.": (
        "vadd", "vcard", "vdim", "vemb", "vgetattr", "vinfo", "vismember", "vlinks", "vrandmember", "vrem", "vsetattr", "vsim",
    ),
    "Of Valkey alone: clients announce what redirections they understand.": ("client|capa",),
    "Of Valkey alone: figures of single slots.": ("cluster|slot-stats",),
}
_ROW = re.compile(r"^\| `([A-Z][A-Z0-9_.-]*)(?: ([A-Z][A-Z0-9_-]*)(?![a-z=]))?[^|]*(?:\\\|[^|]*)*\| [^|]*\| (.*) \|$", re.M)


def read_list(text):
    """{name: since} of a kept list."""
    return dict(line.split() for line in text.splitlines() if line and not line.startswith("#"))


def ours(page):
    """({what Mayfly has}, {those of them that always refuse}) by docs/commands.md, with "config" for "CONFIG GET" as well."""
    have, refused = set(), set()
    for word, second, text in _ROW.findall(page):
        names = [word.lower()] + ([f"{word}|{second}".lower()] if second else [])
        have.update(names)
        if text.startswith("Is refused"):
            refused.add(names[-1])
    return have, refused


def releases(files):
    """(title, {name: since}) of each release that the page compares with."""
    newest = read_list(files[LISTS.format(REDIS)])
    older = {name: since for name, since in newest.items() if since != MODULE and int(since.split(".")[0]) < 8}
    return [("Redis 7.4", older), ("Redis 8.0", newest), ("Valkey 8.0", read_list(files[LISTS.format(VALKEY)]))]


def _share(have, names):
    here = len(have & names)
    return f"{here} of {len(names)} ({100 * here / len(names):.1f} %)"


def markdown(files):
    """The part of the page."""
    have, refused = ours(files[COMMANDS])
    columns = releases(files)
    kinds = {
        "commands": lambda names: {name for name in names if "|" not in name},
        "subcommands": lambda names: {name for name in names if "|" in name},
    }
    lines = ["", "| | " + " | ".join(title for title, _ in columns) + " |", "|---" + "|---:" * len(columns) + "|"]
    for kind, of in kinds.items():
        lines.append(f"| {kind} that exist | " + " | ".join(_share(have, of(names)) for _, names in columns) + " |")
    lines.append("| among them, always refused | " + " | ".join(str(len(refused & set(names))) for _, names in columns) + " |")
    lines += ["", "| absent | of | reason |", "|---|---|---|"]
    for reason, absent in REASONS.items():
        of = [title for title, names in columns if set(absent) & set(names)]
        shown = ", ".join(f"`{name.upper().replace('|', ' ')}`" for name in absent)
        lines.append(f"| {shown} | {', '.join(of)} | {reason} |")
    return "\n".join([*lines, "", ""])


def unexplained(files):
    """Complaints: absent without a reason, or a reason for what is not absent."""
    have, _ = ours(files[COMMANDS])
    absent = {name for _, names in releases(files) for name in names} - have
    given = {name for names in REASONS.values() for name in names}
    wrong = [f"{PAGE}: no reason for the absence of {name}; give it in scripts/checks/compatibility.py" for name in sorted(absent - given)]
    return wrong + [f"scripts/checks/compatibility.py: {name} is not absent" for name in sorted(given - absent)]


def page_with(page, made):
    """The page with `made` between its two lines; None if they are missing."""
    begin, end = page.find(BEGIN), page.find(END)
    return None if begin < 0 or end < begin else page[: begin + len(BEGIN)] + made + page[end:]


def find(files):
    missing = [name for name in (PAGE, COMMANDS, LISTS.format(REDIS), LISTS.format(VALKEY)) if name not in files]
    if missing:
        return [f"{name}: missing" for name in missing]
    page = page_with(files[PAGE], markdown(files))
    if page is None:
        return [f"{PAGE}: the two lines around the shares are missing"]
    return unexplained(files) + ([] if page == files[PAGE] else [f"{PAGE}: the shares are not true; run scripts/compatibility"])


def selftest():
    rows = "".join(
        f"| `{command}` | 1.0.0 | {text} |\n"
        for command, text in (
            ("GET key", "Answers. *Else.*"), ("SET key value [NX \\| XX]", "Stores."), ("CONFIG GET name", "Shows."),
            ("MODULE LOAD path", "Is refused: none."), ("PFDEBUG subcommand key", "Shows."),
        )
    )
    have, refused = ours(rows)
    assert have == {"get", "set", "config", "config|get", "module", "module|load", "pfdebug"}, have
    assert refused == {"module|load"}, refused
    absent = "".join(f"{name} 1.0.0\n" for names in REASONS.values() for name in names if not name.startswith("v"))
    vectors = "".join(f"{name} -\n" for names in REASONS.values() for name in names if name.startswith("v"))
    kept = f"# A comment.\nget 1.0.0\nset 1.0.0\nmodule|load 4.0.0\nhgetex 8.0.0\n{absent}{vectors}"
    files = {COMMANDS: rows + "| `HGETEX key` | 8.0.0 | Reads. |\n", LISTS.format(REDIS): kept, LISTS.format(VALKEY): "get 1.0.0\nmodule|load 1.0.0\n"}
    made = markdown(files)
    assert "| commands that exist | 2 of 3 (66.7 %) | 3 of 16 (18.8 %) | 1 of 1 (100.0 %) |" in made, made
    assert "| among them, always refused | 1 | 1 | 1 |" in made, made
    files[PAGE] = "before\n" + BEGIN + made + END + "after\n"
    assert find(files) == [], find(files)
    gone = files | {COMMANDS: rows}
    assert len(find(gone)) == 2 and "hgetex" in find(gone)[0], find(gone)
    assert "not absent" in find(files | {COMMANDS: files[COMMANDS] + "| `VADD key` | 8.0.0 | Adds. |\n"})[0]
    assert find(files | {PAGE: "no lines"}) and find({})
