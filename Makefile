# Turnpike. `make help` lists the targets.

# The one place of the version: the packages, the manual pages and CHANGELOG.md's first heading follow it.
VERSION     := 0.1.0
# The one place of who publishes the packages. Nobody does yet: a publisher sets both (CONTRIBUTING, "A release").
MAINTAINER  ?= Turnpike maintainers <maintainers@turnpike.example.org>
HOMEPAGE    ?=
PREFIX      ?= /usr/local
SYSCONFDIR  ?= /etc
UNITDIR     ?= $(PREFIX)/lib/systemd/system
ZSHDIR      ?= $(PREFIX)/share/zsh/site-functions
DOCDIR      ?= $(PREFIX)/share/doc/turnpike
CC          ?= cc
CFLAGS      ?= -O2 -g
AR          := $(if $(findstring clang,$(CC)),ar,gcc-ar)
SANITIZE    ?=
WERROR      ?= $(if $(CI),1,)
TIME        ?= 60
PYTEST      ?= /usr/bin/python3 -m pytest
# End-to-end tests mostly wait: so many processes share them, file by file (0: one after another)
TEST_JOBS   ?= 2

# ---- what has to be installed (Debian names)
DEPS_BUILD := gcc make pkg-config libevent-dev libssl-dev libyaml-dev libc-ares-dev libxxhash-dev libjansson-dev \
              zlib1g-dev libbrotli-dev libzstd-dev
# (node and npm may come from elsewhere: Debian's only where there is none)
DEPS_TEST  := check node-llhttp python3 python3-pytest python3-pytest-xdist openssl curl procps tmux zsh $(shell command -v npm >/dev/null || echo nodejs npm)
DEPS_FUZZ  := clang libclang-rt-14-dev node-llhttp
DEPS_STYLE := clang-format
DEPS_LINT  := clang-tidy cppcheck
DEPS_BENCH := nginx-light haproxy valgrind
DEPS_VALGRIND := valgrind
DEPS_UI    := chromium
DEPS_PACKAGE := dpkg-dev debhelper fakeroot lintian rpm rpmlint mmdebstrap systemd systemd-container groff-base

# ---- one build folder for each variant
comma   := ,
empty   :=
space   := $(empty) $(empty)
VARIANT := $(if $(SANITIZE),san-$(subst $(comma),-,$(SANITIZE)),plain)
BUILD   := build/$(VARIANT)
Q       := $(if $(V),,@)
say      = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2))

PKGS     := libevent_core openssl yaml-0.1 libcares libxxhash jansson zlib libbrotlidec libzstd
PKGFLAGS  = $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
LIBS      = $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lm -lrt -pthread

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
            -Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wformat=2 -Wvla
# The daemon is linked as one: 8 % fewer instructions. Fat objects, so that tests link without it.
LTO      ?= $(if $(SANITIZE)$(findstring clang,$(CC)),,1)
# GCC 12.2 puts variables that are written into read-only memory (tests/style/written_static.c): not with this.
SOUND    := $(if $(findstring clang,$(CC)),,-fno-ipa-reference-addressable)
# Checked in what was linked: tests/style/hardening.sh
HARDEN   := -fstack-protector-strong -fstack-clash-protection -fPIE $(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),-fcf-protection) $(if $(SANITIZE),,-D_FORTIFY_SOURCE=2)
TP_CFLAGS = -std=c17 -D_GNU_SOURCE -I. -include common/base/banned.h -DTP_VERSION='"$(VERSION)"' \
            $(WARNINGS) $(if $(WERROR),-Werror) $(HARDEN) $(SOUND) $(PKGFLAGS) $(if $(LTO),-flto=auto -ffat-lto-objects) \
            $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all)
TP_LDFLAGS = -pie -Wl,--as-needed -Wl,-z,relro,-z,now $(if $(SANITIZE),-fsanitize=$(SANITIZE))

COMMON_SRC := $(wildcard common/*/*.c)
SERVER_SRC := $(wildcard server/*.c server/*/*.c)
WORKER_SRC := $(wildcard workers/*.c)
UNIT_SRC   := $(wildcard tests/unit/test_*.c)
COMMON_OBJ := $(COMMON_SRC:%.c=$(BUILD)/%.o)
PAGE_OBJ   := $(patsubst %,$(BUILD)/server/admin/page/%.o,page.html page.css words.js document.js charts.js page.js)
BIN_OBJ    := $(SERVER_SRC:%.c=$(BUILD)/%.o) $(WORKER_SRC:%.c=$(BUILD)/%.o) $(PAGE_OBJ)
# of the admin process, what needs no loop: tested with the leaf modules
ADMIN_OBJ  := $(patsubst %,$(BUILD)/server/admin/%.o,access endpoints listing metrics open_list page recent report) $(PAGE_OBJ)
UNIT_BIN   := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/unit/%)

.DEFAULT_GOAL := all

## all: build the daemon (build/turnpike)
all: deps-build build/turnpike

build/turnpike: $(BUILD)/turnpike
	$(Q)ln -sfn $(VARIANT)/turnpike $@

$(BUILD)/turnpike: $(BIN_OBJ) $(BUILD)/libcommon.a
	$(call say,LD,$@)
	$(Q)$(CC) $(if $(LTO),$(CFLAGS) $(SOUND) -flto=auto) $(TP_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/libcommon.a: $(COMMON_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/libadmin.a: $(ADMIN_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# Scanners are most of what a turn costs: 3 % fewer instructions for 4 % more text.
$(BUILD)/common/http/%.o: SPEED = $(if $(filter -O2,$(CFLAGS)),-O3)

$(BUILD)/%.o: %.c Makefile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(TP_CFLAGS) $(CFLAGS) $(SPEED) -MMD -MP -c -o $@ $<

# The status page's files as they are, between two symbols (server/admin/page.c).
$(PAGE_OBJ): $(BUILD)/%.o: % Makefile
	$(call say,LD,$<)
	$(Q)mkdir -p $(@D) && $(LD) -r -b binary -z noexecstack -o $@ $<

# `turnpike version` says them; where it was built is nobody's business
$(BUILD)/server/version.o: TP_CFLAGS += -DTP_BUILD_OPTIONS='"$(strip $(filter-out -ffile-prefix-map% -fmacro-prefix-map%,$(CFLAGS))$(if \
  $(LTO), -flto)$(if $(SANITIZE), -fsanitize=$(SANITIZE)))"'

$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/libadmin.a $(BUILD)/libcommon.a Makefile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(filter-out -flto% -ffat%,$(TP_CFLAGS)) $(CFLAGS) $(TP_LDFLAGS) -MMD -MP -o $@ $< $(BUILD)/libadmin.a $(BUILD)/libcommon.a \
	  $(shell pkg-config --cflags --libs check 2>/dev/null) $(LIBS)

# ---- tests; a leak, an undefined operation or a warning in the log fails them
SAN_ENV := ASAN_OPTIONS=detect_leaks=1:abort_on_error=1:detect_stack_use_after_return=1 \
           UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 TSAN_OPTIONS=halt_on_error=1 \
           $(if $(SANITIZE),TP_SLACK=1.5)

RUN_PYTEST  = $(SAN_ENV) TURNPIKE_BIN=$(BUILD)/turnpike $(PYTEST) -q -o cache_dir=$(abspath $(BUILD))/pytest
SHARED     := -n $(TEST_JOBS) --dist loadfile

.PHONY: test unit e2e again clients
## test: everything: style, unit tests, end-to-end tests, real clients (SANITIZE=address,undefined too)
test: deps-test check-style unit
	$(Q)$(MAKE) --no-print-directory $(BUILD)/turnpike
	$(Q)$(RUN_PYTEST) $(SHARED) tests/e2e tests/clients tests/bench

MEMCHECK = valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
           --suppressions=tests/unit/valgrind.supp
# a race is seen only where there are threads: SANITIZE=thread runs these suites and no others
THREADED = $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(shell grep -lE 'pthread|threads\.h' $(UNIT_SRC)))
## unit: unit tests of the leaf modules (VALGRIND=1: under memcheck)
unit: deps-test $(if $(VALGRIND),deps-valgrind) $(patsubst %,run-%,$(if $(filter thread,$(SANITIZE)),$(THREADED),$(UNIT_BIN)))

# (check gives a test 4 seconds of its own accord: on a busy machine one has been longer)
RUN_UNIT = CK_TIMEOUT_MULTIPLIER=10 $(if $(SANITIZE),$(SAN_ENV) CK_FORK=no) $(if $(VALGRIND),CK_FORK=no TP_SLOW=1 $(MEMCHECK))
.PHONY: $(UNIT_BIN:%=run-%)
# what a suite says is shown in one piece: with -j2 two of them run
$(UNIT_BIN:%=run-%): run-%: %
	$(Q)$(RUN_UNIT) $* >$*.log 2>&1; status=$$?; cat $*.log; exit $$status

## e2e: end-to-end tests alone (E2E='hostile tls': these files of them)
E2E_FILES = $(if $(E2E),$(E2E:%=tests/e2e/test_%.py),tests/e2e)
e2e: deps-test $(BUILD)/turnpike
	$(Q)$(RUN_PYTEST) $(SHARED) $(E2E_FILES)

# A row with an upper bound fails where the machine was busy elsewhere. What is a fault fails alone as well.
AGAIN_MOST := 5
FAILED      = $(BUILD)/pytest/v/cache/lastfailed
## again: the tests that failed last, alone (5 at most: more is no accident)
again: deps-test $(BUILD)/turnpike
	$(Q)[ "$$(grep -c '": true' $(FAILED))" -le $(AGAIN_MOST) ]
	$(Q)$(RUN_PYTEST) --last-failed --last-failed-no-failures none tests/e2e tests/clients tests/bench

## clients: Codex, Claude Code, openai, anthropic, Vercel, LangChain through Turnpike (npm packages go below build/)
clients: deps-test $(BUILD)/turnpike
	$(Q)$(RUN_PYTEST) $(SHARED) tests/clients

.PHONY: ui deps-ui
## ui: the status page in headless Chromium; pictures of it go to build/ui/
ui: deps-ui $(BUILD)/turnpike
	$(Q)$(RUN_PYTEST) -o cache_dir=$(abspath $(BUILD))/pytest-ui tests/ui

.PHONY: run
## run: build, then Turnpike on 127.0.0.1:8080 in front of a simulated provider
run: all
	@etc/demo.sh build/turnpike

.PHONY: check-style
## check-style: common/ is leaf, headers compile alone, banned functions do not compile, layout
check-style: deps-test
	$(Q)CC="$(CC)" tests/style/check.sh

.PHONY: analyze check-hardening coverage soak
## analyze: gcc -fanalyzer, cppcheck and clang-tidy (TIDY=1: with clang's own analyzer, ten minutes more)
analyze: deps-lint
	$(Q)tests/style/analyze.sh "$$($(MAKE) -s print-flags CC=gcc LTO=)" "$$($(MAKE) -s print-flags CC=clang LTO=)" $(if $(TIDY),deep)

## check-hardening: what the linked daemon says of PIE, RELRO, stack protector, FORTIFY and CET
check-hardening: build/turnpike
	$(Q)tests/style/hardening.sh build/turnpike

## coverage: lines that the unit tests run, by file, least first (gcov)
coverage: deps-test
	$(Q)$(MAKE) --no-print-directory unit BUILD=build/coverage LTO= CFLAGS='-O0 -g --coverage'
	$(Q)cd build/coverage && find . -path './common/*.gcda' -o -path './server/*.gcda' | sort | while read -r f; do \
	  gcov -n -o "$$(dirname "$$f")" "$$f" 2>/dev/null | sed -n "/^File '\(common\|server\).*\.c'/{N;s/File '\(.*\)'\nLines executed:\(.*\)% of.*/\2 \1/p}"; \
	  done | sort -nu

## soak: everything at once for TIME seconds (SEED=1)
soak: deps-test $(BUILD)/turnpike
	$(Q)$(SAN_ENV) TURNPIKE_BIN=$(BUILD)/turnpike /usr/bin/python3 tests/soak/soak.py $(TIME) $(SEED)

.PHONY: print-flags
## print-flags: the compiler's flags, for clang-tidy and editors
print-flags:
	@: $(info $(TP_CFLAGS))

.PHONY: fuzz fuzz-regress
FUZZ_NAMES := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BIN   := $(FUZZ_NAMES:%=build/fuzz/fuzz_%)
FUZZ_ONLY  ?= $(FUZZ_NAMES)
## fuzz: each fuzz target for TIME seconds (60), with clang (FUZZ_ONLY='json sse': these targets)
fuzz: deps-fuzz $(FUZZ_ONLY:%=build/fuzz/fuzz_%)
	$(Q)tests/fuzz/run.sh $(TIME) $(FUZZ_ONLY)

# llhttp as Debian has it: sources, built strict
LLHTTP_SRC   := /usr/share/llhttp
LLHTTP_FLAGS := -DLLHTTP_STRICT_MODE=1 -isystem /usr/share/include/llhttp

FUZZ_CC   := clang -std=c17 -D_GNU_SOURCE -I. -include common/base/banned.h -O1 -g $(PKGFLAGS) \
             -fno-sanitize-recover=all
FUZZ_OBJ  := $(COMMON_SRC:%.c=build/fuzz/%.o)

build/fuzz/%.o: %.c Makefile
	$(Q)mkdir -p $(@D) && $(FUZZ_CC) -fsanitize=fuzzer-no-link,address,undefined -MMD -MP -c -o $@ $<

build/fuzz/libcommon.a: $(FUZZ_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

build/fuzz/llhttp.o: Makefile
	$(Q)mkdir -p $(@D) && for f in api http llhttp; do clang -O1 -g -w $(LLHTTP_FLAGS) -I/usr/share/include/llhttp \
	  -fsanitize=fuzzer-no-link -c -o $(@D)/llhttp-$$f.o $(LLHTTP_SRC)/$$f.c || exit 1; done && \
	  ld -r -o $@ $(@D)/llhttp-api.o $(@D)/llhttp-http.o $(@D)/llhttp-llhttp.o

build/fuzz/fuzz_llhttp: build/fuzz/llhttp.o
build/fuzz/fuzz_%: tests/fuzz/fuzz_%.c build/fuzz/libcommon.a
	$(call say,FUZZ,$@)
	$(Q)$(FUZZ_CC) $(LLHTTP_FLAGS) -fsanitize=fuzzer,address,undefined -MMD -MP -o $@ $< $(filter %llhttp.o,$^) build/fuzz/libcommon.a $(LIBS)

## fuzz-regress: each fuzz target once over its corpus and what was found before, built like the daemon
REGRESS_BIN := $(FUZZ_NAMES:%=$(BUILD)/fuzz/%)
fuzz-regress: deps-test $(REGRESS_BIN)
	$(Q)set -e; for n in $(FUZZ_NAMES); do $(SAN_ENV) $(BUILD)/fuzz/$$n tests/fuzz/corpus/$$n; done

$(BUILD)/fuzz/llhttp.o: Makefile
	$(Q)mkdir -p $(@D) && for f in api http llhttp; do $(CC) -O1 -g -w $(LLHTTP_FLAGS) -c -o $(@D)/llhttp-$$f.o $(LLHTTP_SRC)/$$f.c || exit 1; done && \
	  ld -r -o $@ $(@D)/llhttp-api.o $(@D)/llhttp-http.o $(@D)/llhttp-llhttp.o

$(BUILD)/fuzz/llhttp: $(BUILD)/fuzz/llhttp.o
$(BUILD)/fuzz/%: tests/fuzz/fuzz_%.c tests/fuzz/main.c $(BUILD)/libcommon.a
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(filter-out -flto% -ffat% -Wmissing-prototypes,$(TP_CFLAGS)) $(CFLAGS) $(LLHTTP_FLAGS) $(TP_LDFLAGS) \
	  -MMD -MP -MF $@.d -o $@ $(filter %.c %llhttp.o,$^) $(BUILD)/libcommon.a $(LIBS)

BENCH_BIN := $(addprefix $(BUILD)/bench/,upstream load streams first bare)

$(BENCH_BIN): $(BUILD)/bench/%: $(BUILD)/tests/bench/%.o $(BUILD)/tests/bench/common.o $(BUILD)/tests/bench/request.o $(BUILD)/tests/bench/answers.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(TP_LDFLAGS) $(LDFLAGS) -o $@ $^

.PHONY: bench bench-instructions bench-instructions-check
## bench: Turnpike, nginx and HAProxy side by side (BENCH_TIME=1: seconds of each measurement; ROWS='json sse': only these; PEERS=1: beside gateways from npm; WRITE=1: into the docs)
bench: deps-bench build/turnpike $(BENCH_BIN)
	$(Q)/usr/bin/python3 tests/bench/run.py $(if $(BENCH_TIME),--time $(BENCH_TIME)) --bin $(BUILD)/bench \
		$(if $(JSON),--json $(JSON)) $(if $(WRITE),--write) $(if $(PEERS),peers,$(ROWS))
## bench-instructions: instructions of a worker for one JSON turn (valgrind)
bench-instructions: deps-bench build/turnpike $(BENCH_BIN)
	$(Q)/usr/bin/python3 tests/bench/instructions.py --bin $(BUILD)/bench
## bench-instructions-check: fails when they are 10 % above tests/bench/instructions.expected
bench-instructions-check: deps-bench build/turnpike $(BENCH_BIN)
	$(Q)/usr/bin/python3 tests/bench/instructions.py --bin $(BUILD)/bench --expected tests/bench/instructions.expected

.PHONY: bench-clients
## bench-clients: sends of real clients per fault, without and with Turnpike (npm packages go below build/)
bench-clients: deps-test build/turnpike
	$(Q)/usr/bin/python3 tests/clients/bench.py $(if $(ONLY),--only $(ONLY)) $(if $(LIMIT),--limit $(LIMIT))

.PHONY: bench-capacity
## bench-capacity: 100 clients at a provider that serves 8 at once (BENCH_TIME=60: seconds; about as long in all)
bench-capacity: deps-bench build/turnpike
	$(Q)/usr/bin/python3 tests/bench/capacity.py $(if $(BENCH_TIME),--time $(BENCH_TIME)) --turnpike build/turnpike

# ---- what is installed, by hand and into both packages; paths in the unit follow PREFIX
INSTALL_DATA := install -m 644
at_prefix     = sed -e 's|/usr/bin/turnpike|$(PREFIX)/bin/turnpike|g' -e 's|/usr/libexec/turnpike|$(PREFIX)/libexec/turnpike|g' -e 's|/etc/turnpike|$(SYSCONFDIR)/turnpike|g'

.PHONY: install
## install: all that the packages hold, below DESTDIR and PREFIX; an edited configuration stays
install: all
	install -D -m 755 build/plain/turnpike $(DESTDIR)$(PREFIX)/bin/turnpike
	install -d $(DESTDIR)$(PREFIX)/libexec/turnpike
	for f in replace-running stop-running; do $(at_prefix) packaging/$$f > $(DESTDIR)$(PREFIX)/libexec/turnpike/$$f; done
	chmod 755 $(DESTDIR)$(PREFIX)/libexec/turnpike/*-running
	install -d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(PREFIX)/share/man/man8 $(DESTDIR)$(PREFIX)/share/man/man5
	$(at_prefix) packaging/turnpike.service > $(DESTDIR)$(UNITDIR)/turnpike.service
	sed 's/@VERSION@/$(VERSION)/' packaging/man/turnpike.8 > $(DESTDIR)$(PREFIX)/share/man/man8/turnpike.8
	$(INSTALL_DATA) packaging/man/turnpike.yaml.5 $(DESTDIR)$(PREFIX)/share/man/man5/turnpike.yaml.5
	$(INSTALL_DATA) -D packaging/turnpike.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/turnpike.conf
	$(INSTALL_DATA) -D packaging/turnpike.tmpfiles $(DESTDIR)$(PREFIX)/lib/tmpfiles.d/turnpike.conf
	$(INSTALL_DATA) -D packaging/turnpike.logrotate $(DESTDIR)$(SYSCONFDIR)/logrotate.d/turnpike
	[ -e $(DESTDIR)$(SYSCONFDIR)/turnpike/turnpike.yaml ] || \
	  install -D -m 640 packaging/turnpike.yaml $(DESTDIR)$(SYSCONFDIR)/turnpike/turnpike.yaml
	$(INSTALL_DATA) -D etc/completion/turnpike.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/turnpike
	$(INSTALL_DATA) -D etc/completion/_turnpike $(DESTDIR)$(ZSHDIR)/_turnpike
	install -d $(DESTDIR)$(DOCDIR)
	sed 's|](docs/|](|g' README.md > $(DESTDIR)$(DOCDIR)/README.md # all in one folder there
	sed 's|](../|](|g' docs/guide.md > $(DESTDIR)$(DOCDIR)/guide.md
	$(INSTALL_DATA) SECURITY.md CHANGELOG.md $(filter-out docs/guide.md,$(wildcard docs/*)) etc/turnpike.yaml etc/minimal.yaml \
	  etc/prometheus-alerts.yaml etc/grafana-dashboard.json $(DESTDIR)$(DOCDIR)

# ---- packages; each is built from the tarball alone, without network
DIST_NAME := turnpike-$(VERSION)
# The day of the release, for everything that carries a time.
DIST_DATE  = $(shell sed -n 's/^## $(subst .,\.,$(VERSION)) (\(.*\))$$/\1/p' CHANGELOG.md)
DIST_TAR  := build/$(DIST_NAME).tar.gz

.PHONY: dist deb rpm test-packages
## dist: the source as build/turnpike-VERSION.tar.gz, the same bytes each time
dist:
	$(Q)packaging/dist.sh $(DIST_NAME) '$(DIST_DATE)' $(DIST_TAR)

# What they are made of beside the tarball.
PACKAGE_ENV = MAINTAINER='$(MAINTAINER)' HOMEPAGE='$(HOMEPAGE)'

## deb: build/turnpike_VERSION-1_ARCH.deb, checked by lintian
deb: deps-package dist
	$(Q)$(PACKAGE_ENV) packaging/deb.sh $(DIST_TAR) $(VERSION) '$(DIST_DATE)'

## rpm: build/turnpike-VERSION-1.ARCH.rpm, checked by rpmlint
rpm: deps-package dist
	$(Q)$(PACKAGE_ENV) packaging/rpm.sh $(DIST_TAR) $(VERSION) '$(DIST_DATE)'

## test-packages: both packages are built, checked, installed in a small system of their own, run, removed (as root)
test-packages: deps-test deps-package dist
	$(Q)$(PACKAGE_ENV) packaging/test.sh $(DIST_TAR) $(VERSION) '$(DIST_DATE)'
	$(Q)$(PYTEST) $(SHARED) -q -p no:cacheprovider tests/packaging

.PHONY: clean help all
## clean: remove what was built
clean:
	rm -rf build

## help: this list
help:
	@sed -n 's/^## \([a-z-]*\): /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 22

# Installs only what is missing, so that a second run needs neither network nor root.
missing = $(shell for p in $(1); do \
            dpkg-query -W -f='$${db:Status-Status}' $$p 2>/dev/null | grep -q '^installed' || echo $$p; done)
define install_missing
	@need="$(call missing,$(1))"; if [ -n "$$need" ]; then \
	  echo "installing: $$need"; \
	  if [ "$$(id -u)" = 0 ]; then as_root=; else as_root=sudo; fi; \
	  $$as_root env DEBIAN_FRONTEND=noninteractive sh -c "apt-get update -q && apt-get install -qy --no-install-recommends $$need"; \
	fi
endef

.PHONY: deps deps-build deps-test deps-fuzz deps-bench deps-lint deps-valgrind deps-package
## deps: install what building and testing need (apt)
deps: deps-test
deps-build:
	$(call install_missing,$(DEPS_BUILD))
deps-test:
	$(call install_missing,$(DEPS_BUILD) $(DEPS_TEST) $(DEPS_STYLE))
deps-fuzz:
	$(call install_missing,$(DEPS_BUILD) $(DEPS_FUZZ))
deps-lint:
	$(call install_missing,$(DEPS_BUILD) $(DEPS_LINT))
deps-valgrind:
	$(call install_missing,$(DEPS_BUILD) $(DEPS_TEST) $(DEPS_VALGRIND))
deps-ui:
	$(call install_missing,$(DEPS_BUILD) $(DEPS_TEST) $(DEPS_UI))
deps-package:
	$(call install_missing,$(DEPS_BUILD) $(DEPS_PACKAGE))
deps-bench:
	$(call install_missing,$(DEPS_BUILD) $(DEPS_TEST) $(DEPS_BENCH))

-include $(FUZZ_OBJ:.o=.d) $(FUZZ_BIN:=.d) $(REGRESS_BIN:=.d) $(COMMON_OBJ:.o=.d) $(BIN_OBJ:.o=.d) $(UNIT_BIN:=.d) $(wildcard $(BUILD)/tests/bench/*.d)

# ---- proof and numbers of the shared table
DEPS_MODEL := gcc spin

.PHONY: model bench-ledger deps-model
## model: every interleaving of the ledger's model (Spin)
model: deps-model
	$(Q)tests/model/run.sh build/model

## bench-ledger: operations a second of the ledger, look-ups at several loads
bench-ledger: deps-build $(BUILD)/bench/ledger
	$(Q)$(BUILD)/bench/ledger

$(BUILD)/bench/ledger: $(BUILD)/tests/bench/ledger.o $(BUILD)/libcommon.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(if $(LTO),$(CFLAGS) -flto=auto) $(TP_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

deps-model:
	$(call install_missing,$(DEPS_MODEL))
