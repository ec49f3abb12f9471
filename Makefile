# Turnpike. `make help` lists the targets.

VERSION     := 0.1.0
PREFIX      ?= /usr/local
CC          ?= cc
AR          ?= ar
CFLAGS      ?= -O2 -g
SANITIZE    ?=
WERROR      ?= $(if $(CI),1,)
PYTEST      ?= /usr/bin/python3 -m pytest

# ---- what has to be installed (Debian names)
DEPS_BUILD := gcc make pkg-config libevent-dev libssl-dev libyaml-dev libc-ares-dev libxxhash-dev libjansson-dev
# (node and npm may come from elsewhere: Debian's only where there is none)
DEPS_TEST  := check python3 python3-pytest openssl curl procps $(shell command -v npm >/dev/null || echo nodejs npm)
DEPS_BENCH := nginx-light haproxy

# ---- one build folder for each variant
comma   := ,
empty   :=
space   := $(empty) $(empty)
VARIANT := $(if $(SANITIZE),san-$(subst $(comma),-,$(SANITIZE)),plain)
BUILD   := build/$(VARIANT)
Q       := $(if $(V),,@)
say      = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2))

PKGS     := libevent_core libevent_openssl openssl yaml-0.1 libcares libxxhash jansson
PKGFLAGS  = $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
LIBS      = $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lm -lrt -pthread

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
            -Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wformat=2 -Wvla
HARDEN   := -fstack-protector-strong -fPIE $(if $(SANITIZE),,-D_FORTIFY_SOURCE=2)
TP_CFLAGS = -std=c17 -D_GNU_SOURCE -I. -include common/base/banned.h -DTP_VERSION='"$(VERSION)"' \
            $(WARNINGS) $(if $(WERROR),-Werror) $(HARDEN) $(PKGFLAGS) \
            $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all)
TP_LDFLAGS = -pie -Wl,-z,relro,-z,now $(if $(SANITIZE),-fsanitize=$(SANITIZE))

COMMON_SRC := $(wildcard common/*/*.c)
SERVER_SRC := $(wildcard server/*.c server/*/*.c)
WORKER_SRC := $(wildcard workers/*.c)
UNIT_SRC   := $(wildcard tests/unit/test_*.c)
COMMON_OBJ := $(COMMON_SRC:%.c=$(BUILD)/%.o)
BIN_OBJ    := $(SERVER_SRC:%.c=$(BUILD)/%.o) $(WORKER_SRC:%.c=$(BUILD)/%.o)
UNIT_BIN   := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/unit/%)

.DEFAULT_GOAL := all

## all: build the daemon (build/turnpike)
all: deps-build build/turnpike

build/turnpike: $(BUILD)/turnpike
	$(Q)ln -sfn $(VARIANT)/turnpike $@

$(BUILD)/turnpike: $(BIN_OBJ) $(BUILD)/libcommon.a
	$(call say,LD,$@)
	$(Q)$(CC) $(TP_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/libcommon.a: $(COMMON_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/%.o: %.c Makefile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(TP_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/libcommon.a Makefile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(TP_CFLAGS) $(CFLAGS) $(TP_LDFLAGS) -MMD -MP -o $@ $< $(BUILD)/libcommon.a \
	  $(shell pkg-config --cflags --libs check 2>/dev/null) $(LIBS)

.PHONY: unit
## unit: unit tests of the leaf modules
unit: deps-test $(UNIT_BIN)
	$(Q)set -e; for t in $(UNIT_BIN); do $(if $(SANITIZE),CK_FORK=no) $$t; done

.PHONY: clean help all
## clean: remove what was built
clean:
	rm -rf build

## help: this list
help:
	@sed -n 's/^## \([a-z-]*\): /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 22

# Installs only what is missing, so that a second run needs neither network nor root.
missing = $(shell dpkg-query -W -f='$${db:Status-Status} $${Package}\n' $(1) 2>/dev/null | \
            awk '$$1=="installed"{print $$2}' | sort >/tmp/.tp-have.$$$$; \
            printf '%s\n' $(1) | sort | comm -23 - /tmp/.tp-have.$$$$; rm -f /tmp/.tp-have.$$$$)
define install_missing
	@need="$(call missing,$(1))"; if [ -n "$$need" ]; then \
	  echo "installing: $$need"; \
	  if [ "$$(id -u)" = 0 ]; then as_root=; else as_root=sudo; fi; \
	  $$as_root env DEBIAN_FRONTEND=noninteractive sh -c "apt-get update -q && apt-get install -qy --no-install-recommends $$need"; \
	fi
endef

.PHONY: deps deps-build deps-test deps-bench
## deps: install what building and testing need (apt)
deps:
	$(call install_missing,$(DEPS_BUILD) $(DEPS_TEST))
deps-build:
	$(call install_missing,$(DEPS_BUILD))
deps-test:
	$(call install_missing,$(DEPS_BUILD) $(DEPS_TEST))
deps-bench:
	$(call install_missing,$(DEPS_BUILD) $(DEPS_TEST) $(DEPS_BENCH))

-include $(COMMON_OBJ:.o=.d) $(BIN_OBJ:.o=.d) $(UNIT_BIN:=.d)
