/* Keep-Alive fields: whatever they say, a connection idles no longer than configured. */
#include <stdint.h>

#include "common/http/keep_alive.h"
#include "tests/fuzz/fuzz_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_str value = {(const char *)data, size};
	uint64_t minute = tp_keep_alive_ms(value, 60000);
	FUZZ_CHECK(minute <= 60000 && tp_keep_alive_ms(value, 0) == 0);
	FUZZ_CHECK(tp_keep_alive_ms(value, 1000) == (minute < 1000 ? minute : 1000));
	return 0;
}
