/* Files of variables: whatever the bytes are, there are names and values, or there is a message. */
#include <stdint.h>
#include <string.h>

#include "common/config/env.h"
#include "tests/fuzz/fuzz_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_str text = {(const char *)data, size};
	struct tp_buf errors = {0};
	struct tp_env env;
	bool good = tp_env_parse("f", text, &env, &errors);
	FUZZ_CHECK(good == (errors.len == 0));
	for (size_t i = 0; i < env.n; i++)
		FUZZ_CHECK(env.list[i].name[0] != '\0' && env.list[i].line > 0);
	tp_env_free(&env);
	tp_buf_free(&errors);
	struct tp_config *c = tp_env_load_text("f", text, &errors);
	FUZZ_CHECK(c != NULL || errors.len > 0);
	tp_config_unref(c);
	tp_buf_free(&errors);
	return 0;
}
