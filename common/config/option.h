/*
 * The one option table (design section 10): a row per key with its type, place in struct tp_config, bounds,
 * default and help.  Parsing, defaults, `turnpike config`, the JSON schema and docs/configuration.md all come
 * from these rows; a new key is a new row (and a new type only if its values look like nothing before).
 */
#ifndef TP_CONFIG_OPTION_H
#define TP_CONFIG_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/config/config.h"
#include "common/config/node.h"

enum tp_option_type {
	TP_OPT_BOOL,     /* bool */
	TP_OPT_COUNT,    /* unsigned number */
	TP_OPT_WORKERS,  /* unsigned number; auto = CPUs of this process */
	TP_OPT_LIMIT,    /* unsigned number; off = TP_LIMIT_OFF, auto = TP_LIMIT_AUTO */
	TP_OPT_DURATION, /* milliseconds */
	TP_OPT_SIZE,     /* bytes */
	TP_OPT_STRING,   /* char *; empty = NULL */
	TP_OPT_CHOICE,   /* enum or bool: the index of the word in `choices` */
	TP_OPT_STRINGS,  /* char ** and a count */
	TP_OPT_STATUSES, /* struct tp_status_set */
	TP_OPT_PROVIDER, /* size_t: the index of a provider, written as its name */
	TP_OPT_SECTION,  /* keys of `inner`, in the same object at `offset` */
	TP_OPT_LIST,     /* array of objects of `inner` and a count */
	TP_OPT_MAP       /* the same, each under a name of its own */
};

/* Everything that is at hand while one file is read. */
struct tp_load {
	struct tp_config *config;
	struct tp_config_errors *errors;
};

struct tp_section;

struct tp_option {
	const char *key;
	enum tp_option_type type;
	uint16_t width;      /* bytes of the field, for numbers */
	bool required;       /* has no default and must be given */
	bool secret;         /* never shown, not even in messages about it */
	bool restart;        /* taken over by a restart only, not by a reload */
	bool one_or_list;    /* LIST: a single entry may stand without brackets */
	bool may_repeat;     /* STRINGS: the same text twice is no mistake */
	bool inherits;       /* SECTION: was filled before (provider.retry), no defaults of its own */
	size_t offset;       /* of the field in its object */
	size_t count_offset; /* STRINGS, LIST, MAP: of the size_t that counts them */
	uint64_t low, high;  /* COUNT, WORKERS, LIMIT, DURATION, SIZE: both allowed; STRINGS: entries */
	const char *const *choices; /* NULL-terminated */
	const char *fallback;       /* the default as YAML; NULL = none (absent, empty, or inner defaults) */
	const char
		*example; /* shown in the sample where the default says nothing; MAP: the name of its entry */
	const char *help;
	const struct tp_section *inner;
	/* The key's default hangs on retry.profile: which key it is, and where the written ones of its object
	 * are noted (both enum tp_profile_key). */
	uint8_t profile_key;
	uint8_t (*written)(const void *object);
	/* STRING, STRINGS: a reason why one value is not allowed, or NULL. May change letter case in place.
	 */
	const char *(*refuse)(char *value);
	/* Secret STRING: appends what may be shown of it; NULL = nothing. */
	void (*mask)(const void *object, struct tp_buf *out);
	/* Secret STRINGS: the same of one of them. */
	void (*mask_each)(const char *value, struct tp_buf *out);
};

struct tp_section {
	const char *name; /* "provider": for the documentation of lists and maps */
	const struct tp_option *options;
	size_t n_options;
	size_t size;           /* LIST, MAP: of one object */
	size_t name_offset;    /* MAP: of the char * that takes the name */
	const char *shorthand; /* LIST: a scalar instead of a mapping is the value of this key */
	/* Before an object's keys are read: values that other parts of the file give it. */
	void (*prepare)(struct tp_load *l, void *object);
	/* After: derived fields, and rules between keys. `node` may be NULL (nothing written). */
	void (*check)(struct tp_load *l, void *object, struct tp_node *node);
	/* Frees the derived fields, which the rows know nothing of. */
	void (*release)(void *object);
};

/* The whole file. */
extern const struct tp_section tp_config_root;

/* The field of an option inside its object. */
static inline void *tp_option_field(const struct tp_option *o, void *object)
{
	return (char *)object + o->offset;
}

static inline const void *tp_option_field_const(const struct tp_option *o, const void *object)
{
	return (const char *)object + o->offset;
}

#endif
