/*
 * A variable that another file writes, by an address which goes through two functions.  GCC 12.2 (PR
 * ipa/107769) loses that reference when it makes copies of the two for the one address, then takes the
 * variable for one that is never written and puts it where nothing can be.  check.sh looks where it is with
 * the flags that the daemon has.
 */
struct written {
	int values[40];
};
int written_fill(const char *p, struct written *to);
int written_use(int value);
int written_twice(const char *p);

static void look(const struct written *w, const char *p)
{
	for (;;)
		if (written_use(w->values[*p == 0]) ||
		    (written_use(w->values[3]) && written_use(w->values[5])))
			return;
}

static void fill_and_look(const char *p, struct written *w)
{
	if (written_fill(p, w) != 0)
		return;
	written_use(w->values[1]);
	look(w, p);
}

int written_twice(const char *p)
{
	static struct written in_the_middle;
	fill_and_look(p, &in_the_middle);
	return written_use(*p);
}
