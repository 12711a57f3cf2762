"""conf/mayfly.conf in pieces: what the manual page and docs/options.md are made from."""

import re

_HEADING = re.compile(r"^# -{10,} (.*)$")


def blocks(text):
    """(heading, comment lines, option lines) of a conf file, one for each run of lines without an empty line."""
    for block in text.split("\n\n"):
        comment, options, heading = [], [], None
        for line in block.splitlines():
            found = _HEADING.match(line)
            if found:
                heading = found.group(1)
            elif line.startswith("#"):
                comment.append(line[1:].removeprefix(" "))
            elif line:
                options.append(line)
        yield heading, comment, options
