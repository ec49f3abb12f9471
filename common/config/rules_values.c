/* What a single value must look like. */
#include "common/config/rules.h"

#include <errno.h>

#include "common/base/buf.h"
#include "common/config/endpoint.h"
#include "common/config/files.h"

enum { TLS_FILE_MAX = 8 * 1024 * 1024 }; /* a bundle of all authorities there are is a quarter megabyte */

static bool is_letter_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static void lower(char *value)
{
	for (; *value != '\0'; value++)
		if (*value >= 'A' && *value <= 'Z')
			*value = (char)(*value + 'a' - 'A');
}

/* Every character a letter, a digit or one of `others`. */
static bool is_made_of(const char *value, const char *others)
{
	for (; *value != '\0'; value++)
		if (!is_letter_or_digit(*value) && strchr(others, *value) == NULL)
			return false;
	return true;
}

/* Names stand in headers, logs and metric labels. */
const char *tp_refuse_name(char *value)
{
	if (!is_letter_or_digit(value[0]) || !is_made_of(value, "._-"))
		return "is no name: letters, digits, dot, hyphen and underscore, beginning with a letter or "
		       "digit";
	return strlen(value) <= 64 ? NULL : "is longer than 64 characters";
}

const char *tp_refuse_key(char *value)
{
	for (const char *c = value; *c != '\0'; c++)
		if (*c <= 0x20 || *c >= 0x7f)
			return "holds a blank or another character that cannot stand in a header";
	return strlen(value) <= 8192 ? NULL : "is longer than 8192 characters";
}

/* It goes into a header of the answer, as a part of the target's name. */
const char *tp_refuse_model(char *value)
{
	for (const char *c = value; *c != '\0'; c++)
		if (*c <= 0x20 || *c >= 0x7f)
			return "is no model name: it holds a blank or a character that is not ASCII";
	return strlen(value) <= 200 ? NULL : "is longer than 200 characters";
}

const char *tp_refuse_host(char *value)
{
	lower(value);
	struct tp_str host = tp_str_from(value);
	if (!tp_endpoint_is_host(host))
		return "is no host name (without port, wildcard or path)";
	/* Kept without brackets, like all hosts. */
	if (value[0] == '[') {
		memmove(value, value + 1, host.n - 2);
		value[host.n - 2] = '\0';
	}
	return NULL;
}

const char *tp_refuse_origin(char *value)
{
	const char *wrong = "is no origin: write it as browsers send it, like http://localhost:3000";
	lower(value);
	const char *colon = strstr(value, "://");
	if (colon == NULL || colon == value || !is_letter_or_digit(value[0]) || colon[3] == '\0')
		return wrong;
	for (const char *c = value; c < colon; c++)
		if (!is_letter_or_digit(*c) && strchr("+-.", *c) == NULL)
			return wrong;
	return is_made_of(colon + 3, ".-_:[]") ? NULL : wrong;
}

/* A token of RFC 9110, 5.6.2. */
const char *tp_refuse_header(char *value)
{
	lower(value);
	return is_made_of(value, "!#$%&'*+-.^_`|~") ? NULL : "is no header name";
}

const char *tp_refuse_path(char *value)
{
	if (value[0] != '/')
		return "must begin with a slash";
	for (const char *c = value; *c != '\0'; c++) {
		if (*c <= 0x20 || *c >= 0x7f || strchr("?#\\", *c) != NULL)
			return "is no plain path (no query, no blanks)";
		if (c[0] != '/')
			continue;
		size_t segment = strcspn(c + 1, "/");
		if (c[1] == '/' || (segment == 1 && c[1] == '.') ||
		    (segment == 2 && c[1] == '.' && c[2] == '.'))
			return "has an empty or dot segment";
	}
	size_t n = strlen(value);
	if (n > 1 && value[n - 1] == '/')
		value[n - 1] = '\0';
	return NULL;
}

/* Opened here already, so that a wrong path is told with its line before anything is started. */
const char *tp_refuse_file(char *value)
{
	struct tp_buf content = {0};
	int error = tp_files_read(value, TLS_FILE_MAX, false, &content);
	if (content.data != NULL)
		explicit_bzero(content.data, content.len);
	tp_buf_free(&content);
	switch (error) {
	case 0: return NULL;
	case ENOENT: return "cannot be read: there is no such file";
	case EACCES: return "cannot be read: permission denied";
	case EINVAL: return "is not a regular file";
	case EFBIG: return "is larger than 8 MiB";
	default: return "cannot be read";
	}
}

const char *tp_refuse_absolute(char *value)
{
	size_t n = strlen(value);
	return value[0] == '/' && value[n - 1] != '/' ? NULL : "must be an absolute path";
}

const char *tp_refuse_log_output(char *value)
{
	if (strcmp(value, "stderr") == 0 || strcmp(value, "syslog") == 0 || tp_refuse_absolute(value) == NULL)
		return NULL;
	return "is neither stderr nor syslog nor an absolute path";
}

const char *tp_refuse_access_output(char *value)
{
	if (strcmp(value, "stderr") == 0 || strcmp(value, "off") == 0 || tp_refuse_absolute(value) == NULL)
		return NULL;
	return "is neither off nor stderr nor an absolute path";
}

const char *tp_refuse_egress(char *value)
{
	struct tp_egress_conf e = {0};
	const char *reason = tp_endpoint_egress(value, &e);
	tp_endpoint_egress_free(&e);
	return reason;
}

/* shm_open(3): portable names begin with a slash and have no other. */
const char *tp_refuse_state_name(char *value)
{
	if (value[0] != '/' || value[1] == '\0' || !is_made_of(value + 1, "._-"))
		return "must be a slash and a name, like /turnpike (no further slash)";
	if (strcmp(value, "/.") == 0 || strcmp(value, "/..") == 0)
		return "must be a slash and a name, like /turnpike";
	return strlen(value) <= 128 ? NULL : "is longer than 128 characters";
}
