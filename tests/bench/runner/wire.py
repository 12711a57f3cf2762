"""A blocking client for the few commands that the runner itself sends. Not for load: that is bench_client's."""

import socket


class ErrorReply(Exception):
    pass


class Wire:
    def __init__(self, port, timeout_s=30):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout_s)
        self._file = self._socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()
        self._socket.close()

    def ask(self, *words):
        """One command; its reply as text, int, None or a list. Raises ErrorReply for an error."""
        encoded = [str(word).encode() for word in words]
        request = b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in encoded)
        self._socket.sendall(request)
        return self._reply()

    def pipeline(self, requests, count):
        """Sends encoded requests; their replies. Raises ErrorReply for the first error."""
        self._socket.sendall(requests)
        return [self._reply() for _ in range(count)]

    def info(self, section):
        """INFO's fields as texts."""
        lines = (self.ask("INFO", section) or "").splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def loads(self):
        """Whether the server still reads its file; a server that serves meanwhile tells it by async_loading."""
        fields = self.info("persistence")
        return fields.get("loading") != "0" or fields.get("async_loading", "0") != "0"

    def _reply(self):
        line = self._file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2].decode(errors="replace")
        if kind == b"-":
            raise ErrorReply(rest)
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == "-1" else self._file.read(int(rest) + 2)[:-2].decode(errors="replace")
        if kind == b"*":
            return None if rest == "-1" else [self._reply() for _ in range(int(rest))]
        return rest
