#include "common/retry/known_codes.h"

#include <stddef.h>
#include <string.h>

static const char *const codes[] = {
	"upstream_error",
	"model_not_found",
	"context_length_exceeded",
	"invalid_api_key",
	"insufficient_quota",
	"usage_limit_reached",
	"usage_not_included",
	"invalid_value",
	"invalid_request_error",
	"invalid_prompt",
	"unsupported_parameter",
	"unsupported_value",
	"unsupported_country_region_territory",
	"content_filter",
	"content_policy_violation",
	"authentication_error",
	"permission_error",
	"billing_error",
	"not_found_error",
	"request_too_large",
	"string_above_max_length",
	"missing_required_parameter",
	"previous_response_not_found",
	"DeploymentNotFound",
	"cyber_policy",
};

uint16_t tp_known_code_index(const char *code)
{
	for (size_t i = 1; i < sizeof codes / sizeof codes[0]; i++)
		if (strcmp(codes[i], code) == 0)
			return (uint16_t)i;
	return 0;
}

const char *tp_known_code(uint16_t index)
{
	return codes[index < sizeof codes / sizeof codes[0] ? index : 0];
}
