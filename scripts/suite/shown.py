"""What pages show: commands with their output, and whether what came is that. pasted.py says how a page writes it."""

import re
import subprocess
from dataclasses import dataclass, field

_FENCE = re.compile(r"^```(\w*)\s*$")
_PROMPT = re.compile(r"^(?:(\$)|(127\.0\.0\.1:\d+|[a-z]+)>) (\S.*)$")
_COMMENT = re.compile(r"\s{2,}# (.*)$")
_LATER = re.compile(r"\b(a|one|two|three|four|five|\d+) (second|ms|millisecond)s? later")
_NUMBERS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_ANSWER = re.compile(r"^(?:# (\w+)'s (?:answer|message)s?:|([a-z]+)> # )")
_TOKEN = re.compile(r"\b[0-9a-f]{16}\b")
_PIECES = re.compile(r"\b[0-9a-f]{16}\b|\d+(?:\.\d+)?")


@dataclass
class Step:
    """A command with the output that the page shows. `line` is its line in the page."""

    line: int
    session: str  # "$" for bash
    command: str
    output: list = field(default_factory=list)
    comment: str = ""

    @property
    def pause_s(self):
        found = _LATER.search(self.comment)
        if not found:
            return 0.0
        number = _NUMBERS.get(found.group(1)) or int(found.group(1))
        return number + 0.1 if found.group(2) == "second" else number / 1000 + 0.01


@dataclass
class Section:
    """What one section of a page runs, in order: steps, and (line, language, text) of whole blocks."""

    title: str
    steps: list = field(default_factory=list)


def code_blocks(text):
    """(line, language, lines) of each code block of a page, and (line, "##", [title]) of each section's heading."""
    lines, i = text.split("\n"), 0
    while i < len(lines):
        fence = _FENCE.match(lines[i])
        if fence:
            start = i + 1
            i = start
            while i < len(lines) and lines[i] != "```":
                i += 1
            yield start + 1, fence.group(1), lines[start:i]
        elif re.match(r"^#{1,2} ", lines[i]):
            yield i + 1, "##", [lines[i].lstrip("# ")]
        elif lines[i].startswith("    ") and (i == 0 or not lines[i - 1].strip()):
            start = i
            while i < len(lines) and (lines[i].startswith("    ") or (not lines[i].strip() and lines[i + 1 : i + 2] and lines[i + 1].startswith("    "))):
                i += 1
            yield start + 1, "", [line[4:] for line in lines[start:i]]
            continue
        i += 1


def _whole(command):
    """Whether bash needs no further line."""
    if command.rstrip().endswith("\\"):
        return False
    return subprocess.run(["bash", "-n", "-c", command], capture_output=True).returncode == 0


def steps_of(first, lines):
    """The steps of a code block; an answer that comes later is a step without a command."""
    steps, i = [], 0
    while i < len(lines):
        line = lines[i].rstrip()
        prompt, later = _PROMPT.match(line), _ANSWER.match(line.strip())
        if later:
            steps.append(Step(first + i, later.group(1) or later.group(2), ""))
        elif prompt:
            shell, session, command = prompt.groups()
            at, comment = i, _COMMENT.search(command)
            if shell:
                while not _whole(command) and i + 1 < len(lines) and i < at + 20:
                    i += 1
                    command += "\n" + lines[i].removeprefix("> ")
            elif comment:
                command = command[: comment.start()].rstrip()
            steps.append(Step(first + at, shell or session, command, [], comment.group(1) if comment else ""))
        elif steps:
            steps[-1].output.append(line)
        i += 1
    return steps


def sections(text):
    """The sections of a page that run something."""
    found = [Section("the head")]
    for line, language, lines in code_blocks(text):
        if language == "##":
            found.append(Section(lines[0]))
        elif language in ("conf", "python", "javascript", "php", "ruby") or (lines and lines[0] == "import redis"):
            found[-1].steps.append((line, language or "python", "\n".join(lines) + "\n"))
        else:
            found[-1].steps += steps_of(line, lines)
    return [section for section in found if section.steps]


class Wording:
    """Compares shown output with what came, and remembers what tokens and large numbers of the page stand for."""

    def __init__(self, ports=()):
        self._ports = {str(shown): str(real) for shown, real in dict(ports).items()}
        self._tokens, self._large = {}, {}

    def real(self, text):
        """The page's text with the ports, tokens and large numbers of this run."""
        text = re.sub(r"(?<![\d.])\d{4}(?!\d)", lambda m: self._ports.get(m.group(0), m.group(0)), text)
        text = _TOKEN.sub(lambda m: self._tokens.get(m.group(0), m.group(0)), text)
        return re.sub(r"\b\d{13,}\b", lambda m: self._shifted(m.group(0)), text)

    def _shifted(self, text):
        """A number of the page near one that is known, as far from it as there."""
        shown = int(text)
        near = min(self._large, key=lambda known: abs(known - shown), default=None)
        return text if near is None or abs(near - shown) > 1000 else str(self._large[near] + shown - near)

    def differs(self, shown, came, is_time=False):
        """"" or what is different between two lists of lines. If they tell times, numbers from 10 on may differ by a fifth."""
        self._least = 10 if is_time else 1000
        shown = [re.sub(_COMMENT, "", line).rstrip() for line in shown]
        shown = [line for line, before in zip(shown, [*shown]) if line or before]
        while shown and not shown[-1]:
            shown.pop()
        came = [line.rstrip() for line in came]
        while came and not came[-1]:
            came.pop()
        return self._differs([line for line in shown if line], [line for line in came if line])

    def _differs(self, shown, came):
        for i, line in enumerate(shown):
            if line.strip() == "...":
                rest = shown[i + 1 :]
                ends = range(i, len(came) + 1)
                return "" if any(not self._differs(rest, came[end:]) for end in ends) else f"after ...: not {rest}"
            if i >= len(came):
                return f"missing: {line}"
            if not self._alike(self.real(line), line, came[i]):
                return f"shown: {line}\n    came:  {came[i]}"
        return "" if len(came) <= len(shown) else f"not shown: {came[len(shown)]}"

    def _alike(self, real, shown, came):
        if real == came:
            return True
        ours, theirs = _PIECES.findall(shown), _PIECES.findall(came)
        if _PIECES.sub("0", shown) != _PIECES.sub("0", came) or len(ours) != len(theirs):
            return False
        translated = _PIECES.findall(real)
        for known, page, run in zip(translated, ours, theirs):
            if known != run and not self._near(page, run):
                return False
        for page, run in zip(ours, theirs):
            if len(page) == 16 and not page.isdigit():
                self._tokens[page] = run
            elif page.isdigit() and len(page) >= 13:
                self._large[int(page)] = int(run)
        return True

    def _near(self, page, run):
        if len(page) == 16 and len(run) == 16:
            return True
        if "." in page or "." in run:
            return True
        a, b = int(page), int(run)
        return a >= self._least and abs(a - b) <= a / 5


def selftest():
    page = (
        "# A\n\n    not run\n\n## B\n\n    $ redis-cli\n    127.0.0.1:6379> SET k 5000 PX 3      # two seconds later\n    OK\n\n    ann> GET k\n"
        "                                # waits\n    # ann's answer:\n    \"v\"\n\n```conf\nport 1\n```\n\n    $ echo 'a\n      b'\n    a\n      b\n"
    )
    (section,) = sections(page)
    steps = section.steps
    assert [s.command for s in steps if isinstance(s, Step)] == ["redis-cli", "SET k 5000 PX 3", "GET k", "", "echo 'a\n  b'"], steps
    assert steps[1].pause_s > 2 and steps[1].output == ["OK", ""] and steps[3].session == "ann" and steps[4][1] == "conf"
    wording = Wording({6379: 20001})
    assert wording.real("redis-cli -p 6379 SET 16379 63790") == "redis-cli -p 20001 SET 16379 63790"
    for shown, came in (
        (["(integer) 1492"], ["(integer) 1500", ""]),
        (['1) "8f1d0c3ba5e27946"   # a token'], ['1) "00000000000000ff"']),
        (["1) a", "...", "9) z"], ["1) a", "b", "c", "9) z"]),
        (["listening on 6379"], ["listening on 20001"]),
        (["(integer) 1795457747574398"], ["(integer) 1795457740000000"]),
        (["0.5 s"], ["0.25 s"]),
    ):
        assert wording.differs(shown, came) == "", (shown, came, wording.differs(shown, came))
    assert wording.differs(["(integer) 30"], ["(integer) 29"]) and not wording.differs(["(integer) 30"], ["(integer) 29"], True)
    assert wording.real("8f1d0c3ba5e27946 1795457747574399") == "00000000000000ff 1795457740000001"
    for shown, came in ((["(integer) 2"], ["(integer) 3"]), (["OK"], []), (["OK"], ["OK", "OK"]), (["a", "..."], ["b"]), (["x 2000"], ["x 3000"])):
        assert wording.differs(shown, came), (shown, came)
