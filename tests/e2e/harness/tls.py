"""A certificate authority for the run, made by the openssl command, and contexts for both sides."""

import atexit
import os
import shutil
import ssl
import subprocess
import tempfile
import threading

_lock = threading.Lock()
_made = None


class Authority:
    def __init__(self, folder):
        self.folder = folder
        self.ca = self._path("ca.pem")
        self._new_key("ca.key")
        self._run("req", "-x509", "-new", "-key", self._path("ca.key"), "-subj", "/CN=turnpike test authority",
                  "-days", "2", "-out", self.ca)
        self.certificate, self.key = self.issue("server", "DNS:localhost,IP:127.0.0.1,IP:::1")

    def issue(self, name, subject_names):
        key, request, certificate = (self._path(name + end) for end in (".key", ".csr", ".pem"))
        self._new_key(name + ".key")
        self._run("req", "-new", "-key", key, "-subj", "/CN=" + name, "-out", request)
        extensions = self._path(name + ".ext")
        with open(extensions, "w") as out:
            out.write("subjectAltName=%s\nbasicConstraints=CA:FALSE\n" % subject_names)
        self._run("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self._path("ca.key"),
                  "-CAcreateserial", "-days", "2", "-extfile", extensions, "-out", certificate)
        return certificate, key

    def server(self, certificate=None, key=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate or self.certificate, key or self.key)
        return context

    def client(self, alpn=("http/1.1",)):
        context = ssl.create_default_context(cafile=self.ca)
        context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF  # a missing goodbye is to be seen
        if alpn:
            context.set_alpn_protocols(list(alpn))
        return context

    def _new_key(self, name):
        self._run("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self._path(name))

    def _path(self, name):
        return os.path.join(self.folder, name)

    @staticmethod
    def _run(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def authority():
    global _made
    with _lock:
        if _made is None:
            folder = tempfile.mkdtemp(prefix="turnpike-ca-")
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            _made = Authority(folder)
        return _made
