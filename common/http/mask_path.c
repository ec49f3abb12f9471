#include "common/http/mask_path.h"

#include <stdbool.h>
#include <string.h>

#include "common/base/str.h"

enum { QUOTED_MAX = 300 }; /* a quoted path may hold spaces, up to here */

/* Where people and programs live. */
static const char *const places[] = {"/home/",    "/Users/", "/root/",    "/srv/",          "/var/",
				     "/opt/",     "/usr/",   "/etc/",     "/tmp/",          "/mnt/",
				     "/private/", "/nix/",   "/Library/", "/Applications/", "/Volumes/",
				     "/c/Users/", "/proc/",  "/builds/",  "/workspaces/"};

/* Source files give their folder away wherever it is: /app/main.py. */
static const char *const sources[] = {".py", ".pyc",  ".js", ".mjs", ".cjs", ".ts",   ".tsx", ".go",
				      ".rs", ".c",    ".cc", ".h",   ".cpp", ".so",   ".rb",  ".php",
				      ".cs", ".java", ".kt", ".jar", ".ex",  ".scala"};

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool in_path(char c)
{
	return is_alnum(c) || (unsigned char)c >= 0x80 || (c != '\0' && strchr("/._-+@~", c) != NULL);
}

/* A quoted path ends with its quote, spaces and all. */
static size_t quoted_end(const char *text, size_t n, size_t at, size_t end)
{
	char quote = at > 0 ? text[at - 1] : '\0';
	if (quote != '"' && quote != '\'' && quote != '`')
		return end;
	for (size_t i = end; i < n && i - at < QUOTED_MAX; i++) {
		if (text[i] == quote)
			return i;
		if (!in_path(text[i]) && text[i] != ' ' && text[i] != '\\' && text[i] != '(' &&
		    text[i] != ')')
			break;
	}
	return end;
}

static bool ends_as_source(struct tp_str path)
{
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
		if (tp_str_ends(path, tp_str_from(sources[i])))
			return true;
	return false;
}

/* Not in the middle of something else: of a URL, a relative path, an escaped slash. */
static bool begins_here(const char *text, size_t at)
{
	static const char file[] = "file://";
	if (at == 0 || (!in_path(text[at - 1]) && text[at - 1] != '\\' && text[at - 1] != '%'))
		return true;
	return at >= sizeof file - 1 && memcmp(text + at - (sizeof file - 1), file, sizeof file - 1) == 0;
}

size_t tp_mask_unix_path(const char *text, size_t n, size_t at)
{
	if (!begins_here(text, at))
		return 0;
	size_t end = at;
	while (end < n && in_path(text[end]))
		end++;
	struct tp_str path = {text + at, end - at};
	bool place = false;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		struct tp_str p = tp_str_from(places[i]);
		place = place || (path.n > p.n && tp_str_starts(path, p));
	}
	if (!place && !ends_as_source(path))
		return 0;
	return quoted_end(text, n, at, end);
}

size_t tp_mask_windows_path(const char *text, size_t n, size_t at)
{
	if (at + 3 >= n || text[at + 1] != ':' || (text[at + 2] != '\\' && text[at + 2] != '/'))
		return 0;
	/* "\n:\..." is an escape, and "s://" a URL */
	if (at > 0 && text[at - 1] == '\\' && strchr("bfnrtu", text[at]) != NULL)
		return 0;
	if (text[at + 2] == '/' && text[at + 3] == '/')
		return 0;
	size_t end = at + 3;
	while (end < n && (in_path(text[end]) || text[end] == '\\'))
		end++;
	end = quoted_end(text, n, at, end);
	/* A backslash at the end may belong to what follows: \" must stay whole. */
	while (end > at + 3 && text[end - 1] == '\\')
		end--;
	return end > at + 3 ? end : 0;
}
