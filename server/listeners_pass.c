#include "server/listeners_pass.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the predecessor */

static json_t *describe_one(const struct tp_listeners *l, const struct tp_listener_conf *conf, size_t at)
{
	json_t *names = json_array(), *sockets = json_array();
	bool good = true; /* a socket that is not named would stay open there, and nobody would accept */
	for (size_t i = 0; i < l->n_names; i++)
		if (l->names[i].conf == at)
			good = json_array_append_new(names, json_string(l->names[i].text)) == 0 && good;
	for (size_t i = 0; i < l->n_sockets; i++)
		if (l->sockets[i].conf == at)
			good = json_array_append_new(sockets, json_pack("[i,i]", l->sockets[i].fd,
									l->sockets[i].slot)) == 0 &&
			       good;
	if (!good) {
		json_decref(names);
		json_decref(sockets);
		return NULL;
	}
	return json_pack("{s:s,s:b,s:s,s:i,s:b,s:o,s:o}", "address", conf->address, "unix", conf->is_unix,
			 "host", conf->host != NULL ? conf->host : "", "port", (int)conf->port, "remote",
			 l->remote, "names", names, "sockets", sockets);
}

json_t *tp_listeners_describe(const struct tp_listeners *l, const struct tp_listener_conf *confs, size_t n)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++)
		if (json_array_append_new(list, describe_one(l, &confs[i], i)) != 0) {
			json_decref(list);
			return NULL;
		}
	return list;
}

/* ---- the successor */

int tp_inherited_fd(const json_t *number)
{
	json_int_t fd = json_is_integer(number) ? json_integer_value(number) : -1;
	if (fd <= STDERR_FILENO || fd > INT_MAX)
		return -1;
	/* All others of this process are close-on-exec: so it has not opened this one itself. */
	int flags = fcntl((int)fd, F_GETFD);
	if (flags < 0 || (flags & FD_CLOEXEC) != 0 || fcntl((int)fd, F_SETFD, FD_CLOEXEC) != 0)
		return -1;
	return (int)fd;
}

static bool is_listening(int fd, bool is_unix)
{
	int on = 0, domain = 0;
	socklen_t n = sizeof on, m = sizeof domain;
	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &n) == 0 && on != 0 &&
	       getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &m) == 0 && (domain == AF_UNIX) == is_unix;
}

static bool take_sockets(const json_t *list, bool is_unix, size_t conf, struct tp_listeners *l)
{
	size_t i;
	const json_t *pair;
	struct tp_worker_listener *more =
		reallocarray(l->sockets, l->n_sockets + json_array_size(list) + 1, sizeof *l->sockets);
	if (more == NULL)
		return false;
	l->sockets = more;
	json_array_foreach(list, i, pair)
	{
		const json_t *slot = json_array_get(pair, 1);
		int fd = tp_inherited_fd(json_array_get(pair, 0));
		if (fd < 0)
			return false;
		l->sockets[l->n_sockets++] = (struct tp_worker_listener){
			.fd = fd, .conf = conf, .slot = is_unix ? -1 : (int)json_integer_value(slot)};
		if (!is_listening(fd, is_unix) || !json_is_integer(slot) || json_integer_value(slot) < -1 ||
		    json_integer_value(slot) >= TP_SHM_SLOTS)
			return false;
	}
	return true;
}

static bool take_names(const json_t *list, size_t conf, struct tp_listeners *l)
{
	size_t i;
	const json_t *name;
	struct tp_listener_name *more =
		reallocarray(l->names, l->n_names + json_array_size(list) + 1, sizeof *l->names);
	if (more == NULL)
		return false;
	l->names = more;
	json_array_foreach(list, i, name)
	{
		char *text = json_is_string(name) ? strdup(json_string_value(name)) : NULL;
		if (text == NULL)
			return false;
		l->names[l->n_names++] = (struct tp_listener_name){.text = text, .conf = conf};
	}
	return true;
}

static bool take_one(json_t *tree, struct tp_inherited_listeners *in)
{
	const char *address, *host;
	int is_unix, port, remote;
	json_t *names, *sockets;
	if (json_unpack(tree, "{s:s,s:b,s:s,s:i,s:b,s:o,s:o}", "address", &address, "unix", &is_unix, "host",
			&host, "port", &port, "remote", &remote, "names", &names, "sockets", &sockets) != 0 ||
	    port < 0 || port > UINT16_MAX)
		return false;
	struct tp_listener_conf *conf = &in->confs[in->n_confs];
	*conf = (struct tp_listener_conf){.address = strdup(address),
					  .is_unix = is_unix != 0,
					  .host = strdup(host),
					  .port = (uint16_t)port};
	size_t at = in->n_confs++;
	in->l.remote = in->l.remote || remote != 0;
	return conf->address != NULL && conf->host != NULL &&
	       take_sockets(sockets, conf->is_unix, at, &in->l) && take_names(names, at, &in->l);
}

bool tp_listeners_undescribe(const json_t *tree, struct tp_inherited_listeners *ret)
{
	size_t i;
	json_t *one;
	*ret = (struct tp_inherited_listeners){0};
	ret->confs = calloc(json_array_size(tree) + 1, sizeof *ret->confs);
	if (ret->confs == NULL || !json_is_array(tree))
		return false;
	json_array_foreach(tree, i, one) if (!take_one(one, ret)) return false;
	return true;
}

void tp_inherited_listeners_free(struct tp_inherited_listeners *in)
{
	tp_listeners_close(&in->l);
	for (size_t i = 0; i < in->n_confs; i++) {
		free(in->confs[i].address);
		free(in->confs[i].host);
	}
	free(in->confs);
	*in = (struct tp_inherited_listeners){0};
}

/* Sockets of slots beyond those that are wanted keep the old number, which nobody has: they leave. */
static void relabel(struct tp_listeners *l, const uint8_t *had, unsigned n_had,
		    const struct tp_listeners_want *want)
{
	for (size_t i = 0; i < l->n_sockets; i++)
		for (unsigned k = 0; k < n_had && k < want->n_slots; k++)
			if (l->sockets[i].slot == had[k]) {
				l->sockets[i].slot = want->slots[k];
				break;
			}
}

int tp_listeners_take_over(struct tp_inherited_listeners *in, const uint8_t *had_slots, unsigned n_had,
			   const struct tp_listeners_want *want, struct tp_listeners *ret_listeners,
			   struct tp_listeners *ret_leaving, struct tp_buf *why)
{
	struct tp_listeners added = {0};
	relabel(&in->l, had_slots, n_had, want);
	in->l.slots = want->slots;
	in->l.n_slots = n_had < want->n_slots ? n_had : want->n_slots;
	int error = tp_listeners_prepare(&in->l, in->confs, in->n_confs, want, &added, why);
	if (error != 0)
		return error;
	tp_listeners_switch(&in->l, in->confs, in->n_confs, want, &added, ret_leaving);
	*ret_listeners = in->l;
	in->l = (struct tp_listeners){0};
	return 0;
}
