"""Writes a file as a save does, and nothing else: disk_alone.py FILE BYTES

Prints as JSON how many seconds that takes, and the longest time in µs for which another process, which only looks at the clock, did not
get the processor meanwhile: what this machine's disk costs an event loop that has no work.
"""

import json
import os
import sys
import time

PIECE_BYTES = 256 << 10  # Saver::kChunkBytes
SYNC_BYTES = 32 << 20  # FileWriter::kSyncBytes


def watch(pipe):
    """Looks at the clock until the parent is done, then writes the longest pause in ns."""
    os.set_blocking(pipe[0], False)
    longest, last, looks = 0, time.monotonic_ns(), 0
    while True:
        now = time.monotonic_ns()
        longest, last = max(longest, now - last), now
        looks += 1
        if looks % 10_000 == 0:
            try:
                os.read(pipe[0], 1)  # the end of the pipe
                break
            except BlockingIOError:
                pass
    return longest


def write(path, size):
    """Seconds."""
    piece = os.urandom(PIECE_BYTES)
    began = time.monotonic()
    with open(path, "wb", buffering=0) as file:
        for written in range(0, size, PIECE_BYTES):
            file.write(piece)
            if written % SYNC_BYTES == 0:
                os.fdatasync(file.fileno())
        os.fsync(file.fileno())
    return time.monotonic() - began


def main():
    path, size = sys.argv[1], int(sys.argv[2])
    working, found = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(working[1])
        os.write(found[1], b"%d" % watch(working))
        os._exit(0)
    os.close(working[0])
    seconds = write(path, size)
    os.close(working[1])
    longest_ns = int(os.read(found[0], 100))
    os.waitpid(child, 0)
    os.unlink(path)
    print(json.dumps({"seconds": seconds, "pause_us": longest_ns / 1000}))


if __name__ == "__main__":
    main()
