/*
 * What the rows of the option table are written with: for options*.c only.  Each of those files holds the
 * rows of one subject; options.c joins them.
 */
#ifndef TP_CONFIG_OPTION_ROWS_H
#define TP_CONFIG_OPTION_ROWS_H

#include "common/config/option.h"
#include "common/config/rules.h"

#define AT(type, field)    .offset = offsetof(type, field), .width = sizeof(((type *)0)->field)
#define COUNTED(type, n)   .count_offset = offsetof(type, n)
#define ROWS(table)        .options = (table), .n_options = sizeof(table) / sizeof((table)[0])
#define SECTION(name)      .type = TP_OPT_SECTION, .inner = &(name)
#define RANGE(least, most) .low = (least), .high = (most)

#define SECOND (UINT64_C(1000))
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define KIB    (UINT64_C(1024))
#define MIB    (1024 * KIB)
#define GIB    (1024 * MIB)

/* An entry of `listen`, the section `admin`, an entry of `clients`: options_clients.c */
extern const struct tp_section tp_config_listener;
extern const struct tp_section tp_config_admin;
extern const struct tp_section tp_config_client;
/* The section `retry`, at the top and again in each provider: options_retry.c */
extern const struct tp_section tp_config_retry;
/* An entry of `providers`: options_provider.c */
extern const struct tp_section tp_config_provider;

#endif
