/* A configuration that has to be right, from its text. */
#ifndef TESTS_UNIT_PARSE_H
#define TESTS_UNIT_PARSE_H

#include <check.h>

#include "common/config/config.h"

static struct tp_config *parse(const char *yaml)
{
	struct tp_buf errors = {0};
	struct tp_config *c = tp_config_parse("f", tp_str_from(yaml), &errors);
	ck_assert_msg(c != NULL, "%sof: %s", tp_buf_cstr(&errors), yaml);
	ck_assert_uint_eq(errors.len, 0);
	tp_buf_free(&errors);
	return c;
}

#endif
