"""Asks a clangd what is wrong with texts, over the language server protocol.

clangd runs clang-tidy's checks over the declarations of the text alone; clang-tidy goes over those of its headers, too, and over
the standard library's. And clangd keeps what it has parsed of the #include lines at the head of a text (the preamble), for as long
as the next text under the same path begins with the same lines.
"""

import json
import pathlib
import subprocess
import threading

# For one text.
LIMIT_S = 180
# The protocol's numbers; what is less serious is a hint for an editor.
WARNING = 2


class Ended(Exception):
    """The server has ended, or does not speak the protocol."""


class Server:
    """One clangd process. One text at a time; not thread-safe."""

    def __init__(self, program, commands):
        """`commands`: the folder of a compile_commands.json, in which every path that will be asked about has an entry."""
        # Nothing but the text, its headers and .clang-tidy has a say: no user's configuration, no index of the project.
        options = ("--clang-tidy", "--background-index=0", "--enable-config=0", "--pch-storage=memory", "--log=error", "-j=1")
        self._process = subprocess.Popen(
            [program, f"--compile-commands-dir={commands}", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._version = 0
        self._open = None
        self._send("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, number=1)
        while self._receive().get("id") != 1:
            pass
        self._send("initialized", {})

    def faults(self, path, text):
        """[(line, message, code)] of a text that is taken for the file `path`. Lines begin with 1; the code is a check's name, or a
        compiler's option or name of an error."""
        limit = threading.Timer(LIMIT_S, self._process.kill)
        limit.start()
        try:
            return self._faults(path, text)
        finally:
            limit.cancel()

    def _faults(self, path, text):
        uri = pathlib.Path(path).as_uri()
        self._version += 1
        # A text that has not changed would get no answer.
        text += f"\n// {self._version}\n"
        document = {"uri": uri, "version": self._version}
        if self._open == uri:
            self._send("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}], "wantDiagnostics": True})
        else:
            self._close()
            self._send("textDocument/didOpen", {"textDocument": document | {"languageId": "cpp", "text": text}})
            self._open = uri
        while True:
            message = self._receive()
            said = message.get("params", {})
            if message.get("method") != "textDocument/publishDiagnostics" or said["uri"] != uri:
                continue
            if said.get("version") == self._version:
                return [
                    (fault["range"]["start"]["line"] + 1, fault["message"], fault.get("code", ""))
                    for fault in said["diagnostics"]
                    if fault["severity"] <= WARNING
                ]

    def end(self):
        """Also ends a server that does not answer any more."""
        self._process.kill()
        self._process.communicate()

    def _close(self):
        if self._open:
            self._send("textDocument/didClose", {"textDocument": {"uri": self._open}})
            self._open = None

    def _send(self, method, params, number=None):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        body = json.dumps(message).encode()
        try:
            self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self._process.stdin.flush()
        except BrokenPipeError as trouble:
            raise Ended("clangd has ended") from trouble

    def _receive(self):
        length = 0
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        body = self._process.stdout.read(length)
        if not length or len(body) != length:
            raise Ended("clangd has ended")
        return json.loads(body)
