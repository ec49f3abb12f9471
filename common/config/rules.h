/*
 * What a single value or the keys of one section must hold to, beyond type and bounds; and the fields that
 * are derived from them.  The option table points here.
 */
#ifndef TP_CONFIG_RULES_H
#define TP_CONFIG_RULES_H

#include "common/config/option.h"

/* Values: NULL, or a reason that reads on behind the value. Host, origin and header names are lowered. */
const char *tp_refuse_name(char *value);   /* of a client or provider */
const char *tp_refuse_key(char *value);    /* a credential */
const char *tp_refuse_model(char *value);  /* the model of a target */
const char *tp_refuse_host(char *value);   /* hosts */
const char *tp_refuse_origin(char *value); /* origins */
const char *tp_refuse_header(char *value); /* budget.identify */
const char *tp_refuse_path(char *value);   /* replay_safe, routes.path (a slash at its end is cut) */
const char *tp_refuse_file(char *value);   /* a file that is read at start */
const char *tp_refuse_log_output(char *value);
const char *tp_refuse_access_output(char *value); /* stderr or an absolute path */
const char *tp_refuse_absolute(char *value);      /* an absolute path */
const char *tp_refuse_state_name(char *value);    /* /name */
const char *tp_refuse_egress(char *value);        /* via: direct, or the url of a proxy */

/* Sections. */
void tp_check_config(struct tp_load *l, void *object, struct tp_node *node);
void tp_check_listener(struct tp_load *l, void *object, struct tp_node *node);
void tp_check_listener_tls(struct tp_load *l, void *object, struct tp_node *node);
void tp_check_certificate(struct tp_load *l, void *object, struct tp_node *node);
void tp_check_provider_tls(struct tp_load *l, void *object, struct tp_node *node);
void tp_check_client(struct tp_load *l, void *object, struct tp_node *node);
void tp_check_provider(struct tp_load *l, void *object, struct tp_node *node);
void tp_check_combo(struct tp_load *l, void *object, struct tp_node *node);
void tp_check_retry(struct tp_load *l, void *object, struct tp_node *node);
void tp_check_budget(struct tp_load *l, void *object, struct tp_node *node);

/* enum tp_profile_key of the keys that are written: the object is a tp_retry_conf, or the tp_config. */
uint8_t tp_written_retry(const void *object);
uint8_t tp_written_budget(const void *object);

/* The url with its user information replaced. */
void tp_mask_url(const void *object, struct tp_buf *out);
/* The same for an entry of `via`. */
void tp_mask_egress(const char *value, struct tp_buf *out);

/* Before the keys of an object are read, and what frees its derived fields: see struct tp_section. */
void tp_prepare_provider(struct tp_load *l, void *object);
void tp_release_provider(void *object);
void tp_release_listener(void *object);

/* True when the key was written and nothing was told about it yet: rules between keys look only at these. */
static inline bool tp_is_given(const struct tp_node *node)
{
	return node != NULL && node->kind != TP_NODE_BAD && !node->bad;
}

/* Section `refresh` of a provider, whose node is given (rules_refresh.c). */
void tp_check_refresh(struct tp_load *l, const struct tp_provider_conf *p, struct tp_node *provider);
/* Of the whole file. */
void tp_check_state_files(struct tp_load *l, struct tp_node *root);
/* The rules between combos, routes and providers, once the whole file is read (rules_combos.c). */
void tp_check_combos(struct tp_load *l, struct tp_node *root);

#endif
