"""Runs what README.md and the pages of docs/ show: pasted.py MAYFLY [page...], with redis-cli and the daemon MAYFLY.

An example is a code block, indented or between fences, with one of these:

    127.0.0.1:6379> GET k     a command for redis-cli; `ann> GET k` is another connection, kept open within the section
    $ redis-cli GET k         a command for bash, in an empty folder; `$ mayfly --port 7001` serves until the section ends
    ```conf                   a conf file, which must be right
    ```python                 a program, which must end without an error; so do javascript, php and ruby. Without the program's
                              library its syntax is checked, and without its interpreter it is left out.

The lines after a command are its output. A command for bash that shows none must end with 0; `$ cat file` makes the file.
Each section (##) has a daemon of its own, which starts empty. Ports are replaced by free ones. Numbers from 1,000 on (after TTL
from 10 on) may differ by a fifth, since time passes, and so may the digits of a fraction; a token of 16 hexadecimal digits may
be any, and stands for the same one later. In comments:

    # two seconds later       before this command, so much time passes
    # for instance            the output is not compared; only an error fails

A connection with a name that shows no output waits: the output stands later, after `bob> # ...` or `# bob's answer:`. `...`
stands for any lines. What has no prompt is not run.
"""

import concurrent.futures
import contextlib
import os
import queue
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import peers
import programs
import shown
from shown import Step, Wording

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
ANSWER_S = 60
# The ports of the pages. Those of one row stay in a row.
PORTS = ((6379, 6380), (9121,), (7001, 7002, 7003, 7004))

# Language of a block: the program that runs it, how to ask it for the library, and how to ask it for the syntax alone.
PROGRAMS = {
    "python": (["/usr/bin/python3"], ["-c", "import redis"], ["-m", "py_compile"]),
    "javascript": (["node"], ["-e", "require('ioredis')"], ["--check"]),
    "php": (["php"], ["-r", "new Redis();"], ["-l"]),
    "ruby": (["ruby"], ["-e", "require 'redis'"], ["-c"]),
}
_ENDINGS = {"javascript": "js"}
# redis-cli's own remark about an answer that took long.
_TIME = re.compile(r"^\(\d+\.\d+s\)$")
# Their clients are sent messages until they leave.
_LISTENS = re.compile(r"^(?:redis-cli .*)?\b(?:P|S)?(?:SUBSCRIBE|MONITOR)\b", re.I)


class Session:
    """A redis-cli that stays connected."""

    def __init__(self, port, environment, folder):
        self._process = subprocess.Popen(
            ["redis-cli", "-p", str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment | peers.line_buffered(programs.tools_of(ROOT)),
            cwd=folder,
            text=True,
            bufsize=1,
        )
        self._lines = queue.Queue()
        self._marks = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        with contextlib.suppress(ValueError, OSError):
            for line in self._process.stdout:
                self._lines.put(line.rstrip("\n"))

    def send(self, command):
        """redis-cli itself answers the second line, so that the end of the first one's output is known."""
        self._marks += 1
        with contextlib.suppress(OSError):
            self._process.stdin.write(f"{command}\n:mark{self._marks}\n")
            self._process.stdin.flush()

    def answer(self):
        """The lines up to the mark; None if there is none in time."""
        mark, came, end = f":mark{self._marks}'", [], time.monotonic() + ANSWER_S
        while True:
            try:
                line = self._lines.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                return None
            if mark in line:
                return came
            if ":mark" not in line:
                came.append(line)

    def listen(self, count):
        """The next lines of a client that has subscribed."""
        came, end = [], time.monotonic() + ANSWER_S
        while len(came) < count:
            try:
                line = self._lines.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                break
            if line and "Reading messages" not in line:
                came.append(line)
        return came

    def close(self):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()


class Stage:
    """The surroundings of one section: a folder, ports, daemons, sessions."""

    def __init__(self, mayfly, folder, first_port):
        self._mayfly, self._folder = mayfly, folder
        self._ports = free_ports(first_port)
        self._sessions, self._daemons, self._listening = {}, [], {}
        self._tools = os.path.join(folder, "tools")
        self._work = os.path.join(folder, "work")
        for made in (self._tools, self._work):
            os.makedirs(made)
        os.symlink(os.path.join(ROOT, "conf"), os.path.join(self._work, "conf"))
        port = self._ports[6379]
        self._tool("mayfly", f"MAYFLY_PORT=${{MAYFLY_PORT-{port}}} exec '{mayfly}' \"$@\"")
        path = programs.environment(ROOT)["PATH"]
        for name in ("redis-cli", "redis-benchmark"):
            self._tool(name, f"exec '{shutil.which(name, path=path)}' -p {port} \"$@\"")
        plain = {k: v for k, v in os.environ.items() if not k.startswith(("MAYFLY_", "REDIS"))}
        self._environment = plain | {"FAKETTY": "1", "PATH": f"{self._tools}:{path}", "LC_ALL": "C.UTF-8"}
        self._environment.setdefault("NODE_PATH", os.path.join(ROOT, "build", "clients", "node", "node_modules"))
        self.wording = Wording(self._ports)

    def _tool(self, name, text):
        path = os.path.join(self._tools, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, 0o755)

    def run(self, step):
        """"" or what is wrong."""
        if isinstance(step, tuple):
            return self._file(*step[1:])
        if step.pause_s:
            time.sleep(step.pause_s)
        return self._shell(step) if step.session == "$" else self._redis(step)

    def _file(self, language, text):
        path = os.path.join(self._work, f"example.{_ENDINGS.get(language, language)}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.wording.real(text))
        if language == "conf":
            command = [self._mayfly, "--check-config", path]
        else:
            command, library, syntax = PROGRAMS[language]
            if not shutil.which(command[0]):
                return ""
            self._need_daemon()
            has_library = subprocess.run([*command, *library], capture_output=True, env=self._environment).returncode == 0
            command = [*command, *([] if has_library else syntax), path]
        done = subprocess.run(command, capture_output=True, text=True, env=self._environment, cwd=self._work, timeout=ANSWER_S)
        return "" if done.returncode == 0 else (done.stdout + done.stderr).strip()

    def _need_daemon(self):
        if not self._daemons:
            self._serve(f"{self._mayfly} --port {self._ports[6379]} --metrics-port {self._ports[9121]}")

    def _serve(self, command):
        """Starts a command that may stay. Returns its output and exit code if it ends soon, else nothing."""
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self._environment,
            cwd=self._work,
            text=True,
            start_new_session=True,
        )
        lines, ready = [], threading.Event()

        def read():
            with contextlib.suppress(ValueError):  # closed at the end of the section
                for line in process.stdout:
                    lines.append(line.rstrip("\n"))
                    if ("shards serve" if "--shards" in command else "Ready to accept") in line:
                        ready.set()
            ready.set()

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        ready.wait(ANSWER_S)
        time.sleep(0.05)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
        if process.poll() is None:
            self._daemons.append(process)
            return None
        thread.join(1)
        return lines

    def _shell(self, step):
        command = self.wording.real(step.command)
        if command.strip() == "redis-cli":
            return ""
        if command.startswith("mayfly ") and not re.search(r"--(?:check-config|check-rdb|ping|help|version|completion)\b", command):
            came = self._serve(command.removesuffix("&"))
            return "" if came is None and not step.output else self._compare(step, came or [])
        made = re.match(r"cat (\S+)$", command)
        if made and not os.path.exists(os.path.join(self._work, made.group(1))):
            with open(os.path.join(self._work, made.group(1)), "w", encoding="utf-8") as file:
                file.write(self.wording.real("\n".join(step.output)).rstrip() + "\n")
            return ""
        if re.search(r"\bredis-|\bcurl\b|--ping", command):
            self._need_daemon()
        if _LISTENS.match(command):
            return self._listen(step, command.split(" ", 1)[1])
        try:
            done = subprocess.run(
                ["bash", "-c", command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=self._environment,
                cwd=self._work,
                timeout=ANSWER_S,
                text=True,
                errors="replace",
            )
        except subprocess.TimeoutExpired:
            return f"no end after {ANSWER_S} s"
        if not any(step.output):
            return "" if done.returncode == 0 else f"exit code {done.returncode}: {done.stdout.strip()}"
        return self._compare(step, done.stdout.split("\n"))

    def _session(self, name):
        self._need_daemon()
        if name not in self._sessions:
            given = name.partition(":")[2]
            port = self._ports.get(int(given), self._ports[6379]) if given else self._ports[6379]
            self._sessions[name] = Session(port, self._environment, self._work)
        return self._sessions[name]

    def _redis(self, step):
        session = self._session(step.session)
        listens = step.session in self._listening or _LISTENS.match(step.command)
        if listens:
            if step.command:
                return self._listen(step, step.command)
            return self._compare(step, session.listen(len([line for line in step.output if line])))
        if step.command:
            session.send(self.wording.real(step.command))
        if not any(line for line in step.output if not line.strip().startswith("# ")) and step.command and step.session.isalpha():
            return ""  # answered later
        came = session.answer()
        return "no answer" if came is None else self._compare(step, came)

    def _listen(self, step, command):
        name = step.session if step.session != "$" else "listener"
        session = self._session(name)
        session.send(self.wording.real(command))
        self._listening[name] = True
        lines = [line for line in step.output if line.strip() and "Reading messages" not in line]
        time.sleep(0.2)
        return self._compare(Step(step.line, step.session, command, lines, step.comment), session.listen(len(lines)))

    def _compare(self, step, came):
        if "for instance" in step.comment or any("for instance" in line for line in step.output):
            wrong = [line for line in came if line.startswith("(error)") or "Could not connect" in line]
            return wrong[0] if wrong else ""
        is_time = bool(re.search(r"TTL\b", step.command, re.I))
        return self.wording.differs(step.output, [line for line in came if not _TIME.match(line)], is_time)

    def close(self):
        for session in self._sessions.values():
            session.close()
        for process in self._daemons:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        for process in self._daemons:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stdout.close()


def free_ports(first):
    """{port of the pages: a free one}, from `first` on."""
    found = {}
    for row in PORTS:
        while not all(_is_free(first + i) for i in range(len(row))):
            first += 1
        found |= {port: first + i for i, port in enumerate(row)}
        first += len(row)
    return found


def _is_free(port):
    with contextlib.closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False


def first_port_of_run():
    """Below the ports that the kernel gives to clients, and another one in each process."""
    return 20000 + os.getpid() % 100 * 100


def run_page(mayfly, path, first_port):
    """(number of examples, what is wrong: a list of texts) of a page."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    count, wrong = 0, []
    for section in shown.sections(text):
        folder = tempfile.mkdtemp(prefix="mayfly-pasted.")
        stage = Stage(mayfly, folder, first_port)
        try:
            for step in section.steps:
                count += 1
                problem = stage.run(step)
                if problem:
                    line, what = (step[0], step[1]) if isinstance(step, tuple) else (step.line, step.command)
                    wrong.append(f"{os.path.relpath(path, ROOT)}:{line}: {what}\n    {problem}")
        finally:
            stage.close()
            shutil.rmtree(folder, ignore_errors=True)
    return count, wrong


def pages():
    docs = os.path.join(ROOT, "docs")
    return [os.path.join(ROOT, "README.md"), *(os.path.join(docs, n) for n in sorted(os.listdir(docs)) if n.endswith(".md"))]


def run(tally, mayfly, jobs):
    """Every page as one step of the suite, `jobs` at a time; its examples count."""

    def one(path, first_port):
        started = time.monotonic()
        count, wrong = run_page(mayfly, path, first_port)
        name = f"examples of {os.path.relpath(path, ROOT)}"
        tally.step(name, count - len(wrong), len(wrong), time.monotonic() - started, "\n".join(wrong))

    first_port = first_port_of_run()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(one, path, first_port + 20 * i) for i, path in enumerate(pages())]:
            done.result()


def main(arguments):
    shown.selftest()
    first_port = first_port_of_run()
    if arguments and arguments[0] == "--ports":
        first_port, arguments = int(arguments[1]), arguments[2:]
    if not arguments:
        sys.exit(__doc__)
    total, failed = 0, 0
    for path in arguments[1:] or pages():
        count, wrong = run_page(os.path.abspath(arguments[0]), os.path.abspath(path), first_port)
        total, failed = total + count, failed + len(wrong)
        print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{total - failed} examples are right, {failed} are wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
