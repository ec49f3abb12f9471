/* Bundles of files that a reload hands to workers: damaged ones are refused, good ones come back the same. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/files.h"
#include "tests/fuzz/fuzz_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Two files: what the input's first line names, with the rest as content, and an empty one. */
static void pack(const char *path, struct tp_str content, struct tp_buf *out)
{
	const uint64_t lengths[] = {strlen(path), content.n, 1, 0};
	tp_buf_add(out, lengths, 2 * sizeof *lengths);
	tp_buf_add(out, path, lengths[0]);
	tp_buf_add_str(out, content);
	tp_buf_add(out, lengths + 2, 2 * sizeof *lengths);
	tp_buf_add(out, "\001", 1);
}

/* What is accepted can be packed again, and reads nothing from the disk. */
static void unpack(struct tp_str bytes)
{
	struct tp_files *f = tp_files_unpack(bytes);
	if (f == NULL)
		return;
	struct tp_buf packed = {0}, out = {0};
	FUZZ_CHECK(tp_files_pack(f, &packed) && packed.len <= bytes.n);
	struct tp_files *again = tp_files_unpack(tp_buf_str(&packed)), *before = tp_files_use(again);
	FUZZ_CHECK(again != NULL);
	if (tp_files_find(again, "/dev/null").p == NULL)
		FUZZ_CHECK(tp_files_read("/dev/null", 0, true, &out) == ENOENT);
	(void)tp_files_use(before);
	tp_files_unref(again);
	tp_files_unref(f);
	tp_buf_free(&packed);
	tp_buf_free(&out);
}

/* Comes back the same; less than the whole bundle does not. */
static void round_trip(const char *path, struct tp_str content, struct tp_str bytes)
{
	struct tp_files *f = tp_files_unpack(bytes);
	FUZZ_CHECK(f != NULL);
	struct tp_str found = tp_files_find(f, path);
	/* The empty file has the name \1, and what was put in last is found first. */
	if (strcmp(path, "\001") != 0)
		FUZZ_CHECK(found.n == content.n &&
			   (content.n == 0 || memcmp(found.p, content.p, content.n) == 0));
	tp_files_unref(f);
	FUZZ_CHECK(tp_files_unpack((struct tp_str){bytes.p, bytes.n - 1}) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unpack((struct tp_str){(const char *)data, size});
	const uint8_t *end = size > 3 ? memchr(data + 2, '\n', size - 2) : NULL;
	char *path = end != NULL ? strndup((const char *)data + 2, (size_t)(end - data) - 2) : NULL;
	if (path == NULL)
		return 0;
	struct tp_buf bytes = {0};
	struct tp_str content = {(const char *)end + 1, size - (size_t)(end + 1 - data)};
	pack(path, content, &bytes);
	round_trip(path, content, tp_buf_str(&bytes));
	/* The first two bytes: what is changed where. */
	bytes.data[data[0] % bytes.len] = (char)(bytes.data[data[0] % bytes.len] ^ data[1]);
	unpack(tp_buf_str(&bytes));
	tp_buf_free(&bytes);
	free(path);
	return 0;
}
