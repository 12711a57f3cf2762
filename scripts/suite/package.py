"""The Debian package: built, looked at, and then installed, used, upgraded, removed and purged in a Debian that runs.

The Debian is a debootstrap root, kept in build/package-test, of which each run takes a copy. systemd runs in it as
process 1 (booted.py), so the service has all restrictions of its unit, and what it tells systemd is seen there.
"""

import glob
import os
import re
import shutil
import subprocess
import time
import traceback

from booted import Machine
from container import Failed
from debian import expect, make_root, own_release, said
from repository import check_repository, check_sbom, signing

SYSTEM = ("systemd", "systemd-sysv", "dbus", "logrotate")
UNIT = "mayfly.service"
SOCKET = "mayfly.socket"
EXPOSURE_MAX = 2.0
LOG = "/var/log/mayfly/mayfly.log"
SOURCES = "/etc/apt/sources.list.d/mayfly.list"
KEYRING = "/repository/mayfly.gpg"


# ---- what the package holds


def check_lintian(deb):
    # Otherwise lintian warns that it runs as root.
    as_root = ["--allow-root"] if os.geteuid() == 0 else []
    said("lintian", "--fail-on=error,warning", "--tag-display-limit=0", *as_root, deb)


def check_unit(tree):
    text = said("systemd-analyze", "security", "--offline=true", f"--root={tree}", "--no-pager", UNIT)
    exposure = float(re.search(r"exposure level for mayfly.service: ([\d.]+)", text).group(1))
    expect(exposure <= EXPOSURE_MAX, f"systemd-analyze security: {exposure} is above {EXPOSURE_MAX}\n{text}")
    return f"systemd-analyze security: exposure {exposure} of 10"


def _option_names(daemon):
    """The options that have an effect, from the daemon's own help text."""
    names = re.findall(r"^\s+--([a-z\d-]+)", said(daemon, "--help"), re.M)
    others = ("check-config", "check-rdb", "completion", "help", "include", "ping", "version")
    return [name for name in names if name not in others]


def check_manual(tree, daemon):
    pages = sorted(glob.glob(os.path.join(tree, "usr/share/man/man*/*.gz")))
    expect(len(pages) == 2, f"manual pages: {pages}")
    names = _option_names(daemon)
    expect(len(names) > 50, f"the help text has few options: {names}")
    for page in pages:
        said("mandoc", "-T", "lint", page)
        done = subprocess.run(
            ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page],
            env=os.environ | {"LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        expect(done.returncode == 0 and not done.stderr, f"man --warnings {page}\n{done.stderr}")
        text = said("mandoc", "-T", "utf8", "-O", "width=200", page)
        text = re.sub(r".\x08", "", text)
        for name in names:
            expect(re.search(rf"(?:^|[^a-z\d-]|--){name}(?![a-z\d-])", text, re.M), f"{page} does not name {name}")


def check_completions(tree, daemon):
    files = {
        "bash": "usr/share/bash-completion/completions/mayfly",
        "zsh": "usr/share/zsh/vendor-completions/_mayfly",
        "fish": "usr/share/fish/vendor_completions.d/mayfly.fish",
    }
    for shell, path in files.items():
        path = os.path.join(tree, path)
        said(shell, "-n", path)
        with open(path, encoding="utf-8") as file:
            expect(file.read() == said(daemon, "--completion", shell), f"{path} is not the daemon's script")

    def completed(*words):
        script = f'. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _mayfly; printf "%s\\n" "${{COMPREPLY[@]}}"'
        return said("bash", "-c", script, os.path.join(tree, files["bash"]), *words).split()

    expect(completed("mayfly", "--maxmemory-p") == ["--maxmemory-policy"], "bash does not complete a flag")
    expect(completed("mayfly", "--maxmemory-policy", "allkeys-s") == ["allkeys-sieve", "allkeys-s3fifo"], "bash: a policy")
    expect(completed("mayfly", "--supervised", "s") == ["systemd"], "bash does not complete a word")
    listed = said("fish", "--no-config", "-c", f"source {os.path.join(tree, files['fish'])}; complete -C 'mayfly --maxmemory-'")
    names = [line.split("\t")[0] for line in listed.splitlines()]
    expect(names == ["--maxmemory-clients", "--maxmemory-policy", "--maxmemory-samples"], f"fish completes {names}")


# ---- what the package does


class Service:
    """The installed service, as its machine's systemd sees it."""

    def __init__(self, machine):
        self.machine = machine

    def show(self, name):
        return self.machine.said("systemctl", "show", "--value", f"--property={name}", UNIT)

    def ask(self, *requests):
        """The replies to inline commands, as bytes on the wire."""
        lines = "".join(request + "\\r\\n" for request in (*requests, "QUIT"))
        script = f"exec 3<>/dev/tcp/127.0.0.1/6379; printf '{lines}' >&3; cat <&3"
        return self.machine.shell(script).replace("\r\n", "\n").removesuffix("+OK").strip("\n")

    def pid(self):
        return int(self.show("MainPID"))

    def expect_active(self):
        state = self.machine.run("systemctl", "is-active", UNIT)[1]
        expect(state == "active", f"the service is {state}\n{self.machine.journal()}")
        expect(self.ask("PING") == "+PONG", "the service does not answer")

    def log(self):
        return self.machine.said("cat", LOG)

    def configure(self, *lines):
        """Adds settings to the unit, as an administrator does, and starts it anew."""
        folder = f"/etc/systemd/system/{UNIT}.d"
        text = "\\n".join(["[Service]", *lines, ""])
        self.machine.shell(f"mkdir -p {folder}; printf '{text}' > {folder}/test.conf; systemctl daemon-reload")
        self.machine.said("systemctl", "restart", UNIT)


def install(machine):
    """From the repository, as README says; the machine reaches no other one."""
    machine.shell(f"echo 'deb [signed-by={KEYRING}] file:/repository {own_release()[1]} main' > {SOURCES}")
    machine.said("apt-get", "update", f"-oDir::Etc::SourceList={SOURCES}", "-oDir::Etc::SourceParts=-", "-oAPT::Get::List-Cleanup=0", "--error-on=any")
    machine.said("apt-get", "install", "--yes", "--no-install-recommends", "mayfly")
    service = Service(machine)
    service.expect_active()
    complaints = machine.said("systemd-analyze", "--man=no", "verify", UNIT)
    expect(not complaints, f"systemd-analyze verify: {complaints}")
    expect(machine.said("systemctl", "is-enabled", UNIT) == "enabled", "the service is not enabled")
    expect(service.show("StatusText") == "Ready to accept connections", service.show("StatusText"))
    owners = "stat -c '%U:%G %a' /var/lib/mayfly /var/log/mayfly /run/mayfly /etc/mayfly/mayfly.conf"
    expected = ["mayfly:mayfly 750", "mayfly:mayfly 750", "mayfly:mayfly 755", "root:mayfly 640"]
    expect(machine.shell(owners).splitlines() == expected, machine.shell(owners))
    expect(machine.said("stat", "-c", "%U:%G %a", LOG) == "mayfly:mayfly 640", machine.said("stat", LOG))
    expect("* Ready to accept connections\n" in service.log() + "\n", service.log())
    # The address of this machine alone.
    expect(service.ask("CONFIG GET bind").split("\n")[-1] == "127.0.0.1 -::1", "bind")


def serve_confined(machine):
    """Under the unit's restrictions, and a forbidden system call is deadly now: otherwise it is an error that the daemon
    might not report."""
    service = Service(machine)
    service.configure("SystemCallErrorNumber=", "ExecStart=", "ExecStart=/usr/bin/mayfly /etc/mayfly/mayfly.conf "
                      "--supervised systemd --syslog-enabled yes --unixsocket /run/mayfly/mayfly.sock --pidfile mayfly.pid")
    service.expect_active()
    status = machine.said("cat", f"/proc/{service.pid()}/status")
    for field, value in (("NoNewPrivs", "1"), ("Seccomp", "2"), ("CapEff", "0" * 16), ("CapBnd", "0" * 16)):
        expect(re.search(rf"^{field}:\s+{value}$", status, re.M), f"{field} is not {value}\n{status}")
    expect(not re.search(r"^Uid:\s+0\s", status, re.M), "the daemon runs as root")
    expect(machine.said("cat", "/var/lib/mayfly/mayfly.pid") != "", "no pidfile")
    expect(service.ask("CONFIG GET maxclients").split("\n")[-1] == "10000", "maxclients was lowered")
    replies = service.ask(
        "SET k v PX 60000", "GET k", 'EVAL "local n = 0 for i = 1, 3000000 do n = n + i end return n" 0', "SETRANGE big 50000000 x",
        "DEL big", "CONFIG SET port 6380", "CONFIG SET port 6379", "CONFIG SET maxclients 9000", "CONFIG SET maxmemory 100mb",
        "FLUSHALL ASYNC", "MEMORY PURGE", "CONFIG REWRITE",
    ).split("\n")
    expect(replies[:4] == ["+OK", "$1", "v", ":4500001500000"], f"replies: {replies}")
    expect(replies[4:11] == [":50000001", ":1", "+OK", "+OK", "+OK", "+OK", "+OK"], f"replies: {replies}")
    expect(replies[-1].startswith("-ERR Rewriting config file"), f"CONFIG REWRITE could write: {replies[-1]}")
    machine.said("test", "-S", "/run/mayfly/mayfly.sock")
    # Many connections at once.
    machine.shell("for i in {1..200}; do exec {fd}<>/dev/tcp/127.0.0.1/6379; printf 'PING\\r\\n' >&$fd; read -u $fd; done")
    journal = machine.said("journalctl", "--no-pager", "--identifier=mayfly", "--output=cat")
    expect("Ready to accept connections" in journal.splitlines(), f"syslog-enabled: the journal has no line\n{journal}")
    machine.said("systemctl", "reload", UNIT)
    machine.wait("a reload", lambda: service.show("ActiveState") == "active")
    machine.wait("the log tells of it", lambda: "received SIGHUP" in service.log())
    service.expect_active()
    machine.said("systemctl", "stop", UNIT)
    result = [service.show(name) for name in ("Result", "ExecMainCode", "ExecMainStatus")]
    expect(result == ["success", "1", "0"], f"the stop ended with {result}\n{machine.journal()}")


def restart_failed(machine):
    service = Service(machine)
    service.configure("WatchdogSec=1s")
    for how in ("KILL", "STOP"):  # it dies; it hangs, and does not tell the watchdog that it lives
        before = service.pid()
        machine.said("systemctl", "kill", "--kill-whom=main", f"--signal={how}", UNIT)
        machine.wait(f"a new daemon after SIG{how}", lambda: service.pid() not in (0, before))
        machine.wait("it is ready", lambda: machine.run("systemctl", "is-active", UNIT)[1] == "active")
        service.expect_active()
    expect("Watchdog timeout" in machine.journal(), machine.journal())


def keep_keys(machine):
    """Keys outlive a restart. With the sockets of systemd no client is refused meanwhile."""
    service = Service(machine)
    expect(service.ask("SET k v") == "+OK", "SET")
    machine.said("systemctl", "restart", UNIT)
    service.expect_active()
    machine.wait("the key is loaded", lambda: service.ask("GET k") == "$1\nv")
    expect("saved 1 keys" in service.log(), service.log())
    expect(machine.run("systemctl", "is-enabled", SOCKET)[1] == "disabled", "the package has enabled the sockets")
    machine.said("systemctl", "stop", UNIT)
    complaints = machine.said("systemd-analyze", "--man=no", "verify", SOCKET)
    expect(not complaints, f"systemd-analyze verify: {complaints}")
    machine.said("systemctl", "enable", "--now", SOCKET)
    # The first client starts the daemon.
    machine.wait("the key is loaded again", lambda: service.ask("GET k") == "$1\nv")
    before = service.pid()
    visits = "for i in {1..300}; do exec 3<>/dev/tcp/127.0.0.1/6379 || exit 1; printf 'PING\\r\\n' >&3; read -t 20 -u 3; exec 3>&-; done"
    machine.shell(f"(sleep 0.1; systemctl restart {UNIT}) & {visits}; wait")
    expect(service.pid() not in (0, before), "the daemon was not started anew")
    machine.wait("the key is loaded once more", lambda: service.ask("GET k") == "$1\nv")
    # An address that the daemon does not have ends its start, with a line.
    machine.shell("sed -i 's/^port 6379$/port 6380/' /etc/mayfly/mayfly.conf")
    machine.run("systemctl", "restart", UNIT)
    expect("the inherited socket 127.0.0.1:6379 (LISTEN_FDS) has none of the addresses" in machine.journal(), machine.journal())
    machine.shell("sed -i 's/^port 6380$/port 6379/' /etc/mayfly/mayfly.conf")
    machine.said("systemctl", "disable", "--now", SOCKET)
    machine.run("systemctl", "reset-failed")
    machine.said("systemctl", "restart", UNIT)
    service.expect_active()
    expect(service.ask("GET k") == "$1\nv", "the key is gone")


def rotate(machine):
    service = Service(machine)
    pid = service.pid()
    machine.said("logrotate", "--force", "/etc/logrotate.d/mayfly")
    expect("Ready to accept" in machine.said("zcat", f"{LOG}.1.gz"), "the old log is not there")
    # The next line makes a new file, without a signal: that of an unknown command.
    service.ask("NOSUCHCOMMAND")
    machine.wait("a new log", lambda: machine.run("test", "-s", LOG)[0] == 0)
    expect(service.pid() == pid, "the daemon was started anew")


def upgrade(machine):
    service = Service(machine)
    before = service.pid()
    expect(service.ask("SET upgraded v") == "+OK", "SET")
    machine.shell("sed -i 's/^maxkeys 0$/maxkeys 1000/' /etc/mayfly/mayfly.conf")
    machine.said("apt-get", "install", "--yes", "--reinstall", "/mayfly.deb")
    service.expect_active()
    expect(service.pid() != before, "the upgrade did not start the daemon anew")
    expect(service.ask("CONFIG GET maxkeys").endswith("1000"), "the conf file was replaced")
    machine.wait("the upgrade has kept the keys", lambda: service.ask("GET upgraded") == "$1\nv")
    # A service that was switched off stays off.
    machine.said("systemctl", "disable", "--now", UNIT)
    machine.said("apt-get", "install", "--yes", "--reinstall", "/mayfly.deb")
    expect(machine.run("systemctl", "is-enabled", UNIT)[1] == "disabled", "the upgrade has enabled the service")
    machine.said("systemctl", "enable", UNIT)
    machine.said("systemctl", "restart", UNIT)


def remove(machine):
    machine.said("apt-get", "remove", "--yes", "mayfly")
    expect(machine.run("systemctl", "is-active", UNIT)[1] != "active", "the service still runs")
    expect("maxkeys 1000" in machine.said("cat", "/etc/mayfly/mayfly.conf").splitlines(), "the conf file went")
    machine.said("apt-get", "install", "--yes", "--no-install-recommends", "/mayfly.deb")
    Service(machine).expect_active()


def purge(machine):
    machine.shell(f"rm -r /etc/systemd/system/{UNIT}.d; systemctl daemon-reload")
    machine.said("apt-get", "purge", "--yes", "mayfly")
    machine.shell(f"rm {SOURCES}")
    left = "find / -xdev ( -path /proc -o -path /repository -o -path /var/log/apt -o -path /var/log/journal ) -prune -o -name *mayfly* -print"
    found = [line for line in machine.said(*left.split()).splitlines() if line != "/mayfly.deb"]
    expect(not found, f"after a purge there is still {' '.join(found)}")
    expect(machine.run("getent", "passwd", "mayfly")[1] == "", "the user is still there")
    expect(machine.run("getent", "group", "mayfly")[1] == "", "the group is still there")
    expect(machine.run("bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/6379")[0] != 0, "somebody still listens")


def prepare(work, deb, repository):
    """A copy of the Debian root with the package beside it, and the packages that it depends on ready to be installed."""
    base, root = os.path.join(work, "debian"), os.path.join(work, "root")
    # A package is for the release that it was built on.
    distribution, release = own_release()
    make_root(base, SYSTEM, distribution=distribution, release=release)
    shutil.rmtree(root, ignore_errors=True)
    said("cp", "-a", base, root)
    shutil.copy("/etc/resolv.conf", os.path.join(root, "etc", "resolv.conf"))
    shutil.copy(deb, os.path.join(root, "mayfly.deb"))
    shutil.copytree(repository, os.path.join(root, "repository"))
    said("chroot", root, "apt-get", "update")
    said("chroot", root, "apt-get", "install", "--yes", "--download-only", "--no-install-recommends", "/mayfly.deb")
    return root


def run(tally, root):
    print("Debian package", flush=True)
    script = os.path.join(root, "scripts", "install-packages")
    if subprocess.run([script, "build", "package", "package-test", "release"], stdin=subprocess.DEVNULL).returncode != 0:
        tally.step("packages for the package", 0, 1, 0.0)
        return
    work = os.path.join(root, "build", "package-test")
    tree = os.path.join(work, "unpacked")
    os.makedirs(work, exist_ok=True)
    notes = []

    def step(name, action, *arguments):
        started, trouble, result = time.monotonic(), "", None
        try:
            result = action(*arguments)
        except Failed as problem:
            trouble = str(problem)
        except Exception:
            trouble = traceback.format_exc()
        tally.step(name, int(not trouble), int(bool(trouble)), time.monotonic() - started, trouble)
        return not trouble, result

    built, output = step("scripts/package", said, os.path.join(root, "scripts", "package"))
    if not built:
        return
    deb = output.split()[-1]
    shutil.rmtree(tree, ignore_errors=True)
    said("dpkg-deb", "--extract", deb, tree)
    daemon = os.path.join(tree, "usr", "bin", "mayfly")
    step("lintian", check_lintian, deb)
    _, note = step("the unit", check_unit, tree)
    notes.append(note)
    step("the manual pages", check_manual, tree, daemon)
    step("the completions", check_completions, tree, daemon)
    _, note = step("the SBOM", check_sbom, deb)
    notes.append(note)
    notes.append(f"package {os.path.getsize(deb) // 1000} KB")
    with signing(work):
        ready, repository = step("scripts/repository", check_repository, root, work, deb)
    if not ready:
        return
    if os.geteuid() != 0:
        tally.step("the package in use", 0, 1, 0.0, "namespaces, chroot and debootstrap need root")
        return
    ready, system = step("a Debian to install it in", prepare, work, deb, repository)
    if not ready:
        return
    try:
        with Machine(system, work) as machine:
            for action in (install, serve_confined, restart_failed, keep_keys, rotate, upgrade, remove, purge):
                machine.run("systemctl", "reset-failed")  # so many starts in a short time are no failure here
                if not step(f"in use: {action.__name__.replace('_', ' ')}", action, machine)[0]:
                    break
    except Failed as problem:
        tally.step("systemd starts", 0, 1, 0.0, str(problem))
    for note in filter(None, notes):
        print(f"  {note}", flush=True)
