/* What this binary is: its version, the libraries it runs with, how it was built (design section 11). */
#include <ares.h>
#include <brotli/decode.h>
#include <event2/event.h>
#include <gnu/libc-version.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <stdint.h>
#include <stdio.h>
#include <xxhash.h>
#include <yaml.h>
#include <zlib.h>
#include <zstd.h>

#include "common/config/config.h"
#include "common/shm/layout.h"
#include "server/commands.h"

#if defined __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

#ifndef TP_BUILD_OPTIONS /* the Makefile says them */
#define TP_BUILD_OPTIONS "unknown"
#endif

/* Those that are loaded, which an upgrade of the system may have changed since the build. */
static void print_libraries(void)
{
	uint32_t brotli = BrotliDecoderVersion();
	unsigned xxhash = XXH_versionNumber();
	(void)printf(
		"libraries: libevent %s, %s, libyaml %s, c-ares %s, xxhash %u.%u.%u, jansson %s, zlib %s, "
		"brotli %u.%u.%u, zstd %s, glibc %s\n",
		event_get_version(), OpenSSL_version(OPENSSL_VERSION), yaml_get_version_string(),
		ares_version(NULL), xxhash / 10000, xxhash / 100 % 100, xxhash % 100, jansson_version_str(),
		zlibVersion(), (unsigned)(brotli >> 24), (unsigned)(brotli >> 12 & 0xfff),
		(unsigned)(brotli & 0xfff), ZSTD_versionString(), gnu_get_libc_version());
}

/* The first line is "turnpike VERSION" alone, for scripts. */
int tp_cmd_version(int argc, char **argv)
{
	struct tp_options o = tp_options_begin(argc, argv);
	int flag = tp_options_next(&o);
	if (flag != TP_FLAG_END)
		return flag == TP_FLAG_HELP ? 0 : 2;
	(void)printf("turnpike %s\n", TP_VERSION);
	print_libraries();
	(void)printf("built: %s; %s\n", COMPILER, TP_BUILD_OPTIONS);
	(void)printf("table layout: %d; configuration: %s\n", (int)TP_LAYOUT_VERSION, TP_CONFIG_DEFAULT_FILE);
	return 0;
}
