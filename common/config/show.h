/* `turnpike config`: the option table and what a file amounts to, as text. All append to `out`. */
#ifndef TP_CONFIG_SHOW_H
#define TP_CONFIG_SHOW_H

#include "common/config/config.h"

/* Every key with its default and help, as YAML that can be loaded: etc/turnpike.yaml is this text. */
void tp_config_show_defaults(struct tp_buf *out);
/* Every key with the value it has in `c`, as YAML; secrets are masked. */
void tp_config_show_effective(const struct tp_config *c, struct tp_buf *out);
/* A JSON schema (draft 2020-12) for editors. False when out of memory. */
bool tp_config_show_schema(struct tp_buf *out);
/* docs/configuration.md is this text. */
void tp_config_show_markdown(struct tp_buf *out);
/* packaging/man/turnpike.yaml.5 is this text. */
void tp_config_show_man(struct tp_buf *out);

#endif
