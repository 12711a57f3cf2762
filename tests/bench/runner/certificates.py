"""Certificates for tests and benchmarks of TLS, made by openssl's command: a CA, the server's and a client's."""

import os
import subprocess

KINDS = {"rsa": ("rsa:2048",), "ec": ("ec", "-pkeyopt", "ec_paramgen_curve:P-256")}


def make(folder, kind="rsa"):
    """Writes ca, server and client (.crt and .key) into `folder`, the server's for localhost. Raises OSError or
    subprocess.CalledProcessError."""
    os.makedirs(folder, exist_ok=True)

    def openssl(*words):
        subprocess.run(
            ["openssl", *words],
            cwd=folder,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    new = ("req", "-noenc", "-newkey", *KINDS[kind])
    # Python since 3.13 refuses a CA that does not say that it signs.
    signs = ("-addext", "keyUsage=critical,keyCertSign")
    openssl(*new, "-x509", "-days", "2", "-subj", "/CN=a CA for tests", *signs, "-keyout", "ca.key", "-out", "ca.crt")
    for name, subject in (("server", "localhost"), ("client", "client")):
        names = ("-addext", f"subjectAltName=DNS:{subject},IP:127.0.0.1")
        openssl(*new, "-subj", f"/CN={subject}", *names, "-keyout", f"{name}.key", "-out", f"{name}.csr")
        signer = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-copy_extensions", "copy")
        openssl("x509", "-req", "-in", f"{name}.csr", *signer, "-out", f"{name}.crt")


def options(folder, port):
    """What a server's command line needs to serve TLS at this port with these files."""
    return (
        f" --tls-port {port} --tls-cert-file {folder}/server.crt --tls-key-file {folder}/server.key"
        f" --tls-ca-cert-file {folder}/ca.crt"
    )
