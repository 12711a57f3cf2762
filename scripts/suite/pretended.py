"""A program in place of a master of a later version: it sends a given snapshot, and then given commands."""

import contextlib
import socket
import threading

from metered import encode


class Master:
    """Serves replicas on a free port for as long as a `with` block; counts how many snapshots it was asked for."""

    def __init__(self, snapshot, *commands):
        self._snapshot = snapshot
        self._stream = b"".join(encode(*words) for words in (("SELECT", 0), *commands))
        self.snapshots = 0

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        # A close alone would not wake the thread that accepts.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with contextlib.suppress(OSError, ValueError), client, client.makefile("rb") as file:
            while line := file.readline():
                words = []
                for _ in range(int(line[1:])):
                    words.append(file.read(int(file.readline()[1:]) + 2)[:-2].upper())
                client.sendall(self._answer(words))

    def _answer(self, words):
        if words[0] == b"PING":
            return b"+PONG\r\n"
        if words[0] == b"PSYNC":
            self.snapshots += 1
            return b"+FULLRESYNC %s 0\r\n$%d\r\n" % (b"5" * 40, len(self._snapshot)) + self._snapshot + self._stream
        return b"" if words[:2] == [b"REPLCONF", b"ACK"] else b"+OK\r\n"
