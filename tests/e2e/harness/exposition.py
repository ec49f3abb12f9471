"""A strict reader of the Prometheus text format 0.0.4: whatever `promtool check metrics` would complain about
fails here in plain words."""

import collections
import math
import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(r"^(%s)(\{.*\})? (\S+)$" % NAME)
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)')
SUFFIXES = ("_bucket", "_sum", "_count")


class Exposition:
    """values: {(name, ((label, value), ...)): number}; types: {family: type}."""

    def __init__(self, text):
        assert text.endswith("\n"), "the last line has no end"
        self.values, self.types, self._helped, self._closed = {}, {}, set(), set()
        self._family = None
        for line in text[:-1].split("\n"):
            self._line(line)
        self._check_histograms()

    def _line(self, line):
        assert line and line == line.strip() and line.isascii(), repr(line)
        if line.startswith("#"):
            _, kind, name, rest = line.split(" ", 3)
            assert re.fullmatch(NAME, name) and rest, line
            if kind == "HELP":
                assert name not in self._helped, "HELP twice: " + name
                self._helped.add(name)
                self._closed.add(self._family)
                self._family = name
                return
            assert kind == "TYPE" and name == self._family and name not in self.types, line
            assert rest in ("counter", "gauge", "histogram"), line
            assert (rest == "counter") == name.endswith("_total"), "a counter ends in _total: " + line
            assert not name.endswith(SUFFIXES), line
            self.types[name] = rest
            return
        match = SAMPLE.match(line)
        assert match, "no sample: %r" % line
        name, labels, value = match[1], tuple(self._labels(match[2] or "")), float(match[3])
        family = self._family_of(name)
        assert family == self._family and family not in self._closed, "outside of its family: " + line
        assert (name, labels) not in self.values, "twice: " + line
        assert not math.isnan(value), line
        if self.types[family] != "gauge":
            assert value >= 0, line
        self.values[name, labels] = value

    def _family_of(self, name):
        for suffix in SUFFIXES:
            base = name[:-len(suffix)]
            if name.endswith(suffix) and self.types.get(base) == "histogram":
                return base
        assert name in self.types and self.types[name] != "histogram", "no TYPE for " + name
        return name

    @staticmethod
    def _labels(text):
        at, inner = 0, text[1:-1]
        while at < len(inner):
            match = LABEL.match(inner, at)
            assert match, "labels: %r" % text
            yield match[1], re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], match[2])
            at = match.end()

    def _check_histograms(self):
        for name, kind in self.types.items():
            if kind != "histogram":
                continue
            buckets = [(dict(labels)["le"], value) for (n, labels), value in self.values.items()
                       if n == name + "_bucket"]
            bounds = [float(le) for le, _ in buckets]
            counts = [value for _, value in buckets]
            assert bounds == sorted(set(bounds)) and bounds[-1] == math.inf, name
            assert counts == sorted(counts), "not cumulated: " + name
            assert counts[-1] == self.values[name + "_count", ()], name
            assert (name + "_sum", ()) in self.values, name

    def of(self, name):
        """{label values: number} of one metric."""
        return {tuple(value for _, value in labels): number
                for (n, labels), number in self.values.items() if n == name}

    def sum(self, name, **labels):
        return sum(number for (n, found), number in self.values.items()
                   if n == name and labels.items() <= dict(found).items())

    def counters(self):
        """What may only grow."""
        return {key: number for key, number in self.values.items()
                if self.types[self._family_of(key[0])] != "gauge"}

    def series(self):
        return collections.Counter(name for name, _ in self.values)


def check_grows(before, after):
    """No counter of `before` is lost or smaller in `after`."""
    now = after.counters()
    for key, number in before.counters().items():
        assert now.get(key, -1) >= number, "%r ran backwards: %r, then %r" % (key, number, now.get(key))
