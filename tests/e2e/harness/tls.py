"""A certificate authority for the run, made by the openssl command, and contexts for both sides."""

import atexit
import os
import shutil
import ssl
import subprocess
import tempfile
import threading
import time

_lock = threading.Lock()
_made = None


CA_CONFIG = """[ca]
default_ca = this
[this]
database = %(folder)s/index.txt
unique_subject = no
serial = %(folder)s/ca.serial
crlnumber = %(folder)s/crl.serial
new_certs_dir = %(folder)s
default_md = sha256
default_crl_days = 2
policy = any
[any]
commonName = supplied
"""


class Authority:
    def __init__(self, folder):
        self.folder = folder
        self.ca = self._path("ca.pem")
        self.lock, self.issued = threading.Lock(), 0
        for name, content in (("ca.cnf", CA_CONFIG % {"folder": folder}), ("index.txt", ""), ("ca.serial", "1000\n"),
                              ("crl.serial", "01\n")):
            with open(self._path(name), "w") as out:
                out.write(content)
        self._new_key("ca.key")
        self._run("req", "-x509", "-new", "-key", self._path("ca.key"), "-subj", "/CN=turnpike test authority",
                  "-days", "2", "-out", self.ca)
        self.certificate, self.key = self.issue("server", "DNS:localhost,IP:127.0.0.1,IP:::1")

    def issue(self, name, subject_names, expired=False, ends_in=None, more=(), issuer=None):
        """Certificate and key.  Rows that run side by side share the authority, its serial numbers and its folder.
        ends_in: seconds.  more: further extensions; basicConstraints among them replace ours.  issuer: certificate and
        key of another one than the authority itself."""
        with self.lock:
            self.issued += 1
            return self._issue("%s-%d" % (name, self.issued), name, subject_names, expired, ends_in, more, issuer)

    def _issue(self, file, name, subject_names, expired, ends_in, more, issuer):
        key, request, certificate = (self._path(file + end) for end in (".key", ".csr", ".pem"))
        self._new_key(file + ".key")
        self._run("req", "-new", "-key", key, "-subj", "/CN=" + name, "-out", request)
        extensions = self._path(file + ".ext")
        with open(extensions, "w") as out:
            lines = ["subjectAltName=" + subject_names] if subject_names else []
            lines += [] if any("basicConstraints" in line for line in more) else ["basicConstraints=CA:FALSE"]
            out.write("\n".join([*lines, *more, ""]))
        if expired or ends_in is not None:
            end = time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + ends_in)) if ends_in is not None else "20200201000000Z"
            self._ca("-in", request, "-extfile", extensions, "-out", certificate, "-notext",
                     "-startdate", "20200101000000Z", "-enddate", end)
        else:
            issuer = issuer or (self.ca, self._path("ca.key"))
            self._run("x509", "-req", "-in", request, "-CA", issuer[0], "-CAkey", issuer[1],
                      "-CAcreateserial", "-days", "2", "-extfile", extensions, "-out", certificate)
        return certificate, key

    def together(self, name, *files):
        """One file with the content of all."""
        path = self._path(name)
        with open(path, "w") as out:
            for file in files:
                with open(file) as part:
                    out.write(part.read())
        return path

    def revoke(self, certificate):
        """A file with the authority and its revocation list."""
        with self.lock:
            self._ca("-revoke", certificate)
            self._ca("-gencrl", "-out", self._path("crl.pem"))
        return self.together("ca-and-crl.pem", self.ca, self._path("crl.pem"))

    def old_list(self):
        """A revocation list that is past its date."""
        with self.lock:
            self._ca("-gencrl", "-crl_lastupdate", "20200101000000Z", "-crl_nextupdate", "20200201000000Z",
                     "-out", self._path("old-crl.pem"))
        return self._path("old-crl.pem")

    def empty_list(self, issuer):
        """The revocation list of an intermediate that has revoked nobody."""
        with self.lock:
            config, out = self._path("other.cnf"), self._path("other-crl.pem")
            folder = tempfile.mkdtemp(dir=self.folder)
            with open(config, "w") as to:
                to.write(CA_CONFIG % {"folder": folder})
            for name, content in (("index.txt", ""), ("crl.serial", "01\n")):
                with open(os.path.join(folder, name), "w") as to:
                    to.write(content)
            self._run("ca", "-batch", "-config", config, "-cert", issuer[0], "-keyfile", issuer[1], "-gencrl", "-out", out)
        return out

    def server(self, certificate=None, key=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate or self.certificate, key or self.key)
        return context

    def _ca(self, *arguments):
        self._run("ca", "-batch", "-config", self._path("ca.cnf"), "-cert", self.ca, "-keyfile", self._path("ca.key"),
                  *arguments)

    def client(self, alpn=("http/1.1",), pair=None):
        context = ssl.create_default_context(cafile=self.ca)
        context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF  # a missing goodbye is to be seen
        if alpn:
            context.set_alpn_protocols(list(alpn))
        if pair is not None:
            context.load_cert_chain(*pair)
        return context

    def _new_key(self, name):
        self._run("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self._path(name))

    def _path(self, name):
        return os.path.join(self.folder, name)

    @staticmethod
    def _run(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def new_authority():
    """One that nobody knows yet."""
    folder = tempfile.mkdtemp(prefix="turnpike-ca-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Authority(folder)


def authority():
    global _made
    with _lock:
        if _made is None:
            _made = new_authority()
        return _made
