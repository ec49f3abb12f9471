#include "common/base/block.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define KEEPS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEEPS 0
#endif
#endif
#ifndef KEEPS
#define KEEPS 1
#endif

enum { STEP = 64, CLASSES = TP_BLOCK_MAX / STEP };

/* A block that waits is a link of its class. */
struct waiting {
	struct waiting *next;
};

static struct waiting *kept[CLASSES];
static size_t kept_bytes;

/* Sizes of one class are all allocated as its largest. */
static size_t class_of(size_t size)
{
	return size == 0 ? 0 : (size - 1) / STEP;
}

void *tp_block_new(size_t size)
{
	if (size > TP_BLOCK_MAX)
		return malloc(size);
	size_t class = class_of(size);
	struct waiting *b = kept[class];
	if (b == NULL)
		return malloc((class + 1) * STEP);
	kept[class] = b->next;
	kept_bytes -= (class + 1) * STEP;
	__builtin_prefetch(b->next, 1); /* the next request asks for it, and it has lain for a while */
	return b;
}

void *tp_block_zeroed(size_t size)
{
	void *block = tp_block_new(size);
	if (block != NULL)
		memset(block, 0, size);
	return block;
}

void tp_block_free(void *block, size_t size)
{
	size_t class = class_of(size);
	struct waiting *b = block;
	if (!KEEPS || b == NULL || size > TP_BLOCK_MAX || kept_bytes + (class + 1) * STEP > TP_BLOCK_KEPT) {
		free(block);
		return;
	}
	b->next = kept[class];
	kept[class] = b;
	kept_bytes += (class + 1) * STEP;
}
