/*
 * The ledger's record as Spin sees it (common/shm/ledger.c, ledger_join.c, ledger_cell.c): workers that join one and the
 * same id, charge, write, give back, settle, commit, end and die at any instruction; a master that reaps them;
 * re-sends that take over what the dead left.  tests/model/run.sh explores every interleaving.
 *
 * One access to the table there is one step here.  Left out: time (nothing expires: every re-send comes in time),
 * other keys (a tag is seen only with its key: see insert()), the classes of sends, what an ended record remembers apart
 * from its phase.  Memory order is left out too: that is for ThreadSanitizer and docs/shared-memory.md.
 *
 * Sizes: WORKERS slots and as many cells (a slot holds at most one, so there always is room), LIMIT sends, TURNS turns
 * in the whole run, KILLS deaths.  With -DHELD_FOR_DEAD the master also takes living workers for dead: each turn of
 * such a one may then add one send, and no more.
 *
 * -DBREAK=n takes one rule away; the verifier must then find an error, else the model proves nothing (run.sh).
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef LIMIT
#define LIMIT 2
#endif
#ifndef TURNS
#define TURNS 4
#endif
#ifndef KILLS
#define KILLS 2
#endif
#ifndef BREAK
#define BREAK 0
#endif
#define BREAK_COUNT 1     /* ids are inserted without counting insertions */
#define BREAK_TAKE 2      /* a record is taken by a store instead of a swap */
#define BREAK_DEAD_OPEN 3 /* an open send of the dead counts as declined */
#define BREAK_GIVE_BACK 4 /* a give-back does not ask whether a send is open */
#define BREAK_CHARGE 5    /* the byte is written before the charge */
#define BREAK_EPOCH 6     /* possessions are not numbered: a handle is known by its slot alone */

#define CELLS WORKERS
#define TRIES 2

/* Phases. ENDED stands for success, declined, unknown and left: with an id a re-send takes any of them. */
#define FREE 0
#define INSERTING 1
#define IN_FLIGHT 2
#define ENDED 3
#define REFUSED 4

/* The decision word: epoch, used, open, committed, phase, slot, generation. */
#define PACK(e, u, o, c, p, s, g) (((e) << 14) | ((u) << 10) | ((o) << 9) | ((c) << 8) | ((p) << 5) | ((s) << 3) | (g))
#define EPOCH(w) ((w) >> 14)
#define USED(w) (((w) >> 10) & 15)
#define OPEN(w) (((w) >> 9) & 1)
#define COMMITTED(w) (((w) >> 8) & 1)
#define PHASE(w) (((w) >> 5) & 7)
#define SLOT(w) (((w) >> 3) & 3)
#define GENERATION(w) ((w)&7)

/* ---- the table */
int word[CELLS];
bit tag[CELLS];
byte inserts;
byte generation[WORKERS];

/* ---- what happens to workers */
bit killed[WORKERS];
bit reaped[WORKERS];
bit gone[WORKERS]; /* makes no further turn */
byte kills_left = KILLS;
byte turns_left = TURNS;
byte done; /* how many of them */

/* ---- what must hold is said about these; no worker reads them */
byte holds[WORKERS]; /* cell + 1 of the record that it believes to hold */
byte paid; /* charged and not given back */
byte written;
byte unrecorded;  /* charges of workers that were held for dead while they lived */
bit may_have_run; /* a worker died with a byte written and no answer */

#define STALE(w) (generation[SLOT(w)] != GENERATION(w))
#define OWN(w) (PHASE(w) == IN_FLIGHT && SLOT(w) == me && (BREAK == BREAK_EPOCH || (EPOCH(w) == epoch && GENERATION(w) == stamp)))
#define MINE_FROM(w, u, o, c, p) PACK(EPOCH(w), u, o, c, p, me, stamp)

/* No other living worker holds a record of this id. */
inline check_alone() {
	i = 0;
	do
	:: i < WORKERS ->
#ifndef HELD_FOR_DEAD
		assert(i == me || holds[i] == 0 || killed[i]);
#endif
		i++
	:: else -> break
	od;
	i = 0
}

/* What is charged is what the record says; what was written is never more than that, nor than the limit. */
inline check_books(w) {
#ifndef HELD_FOR_DEAD
	assert(USED(w) == paid);
	assert(USED(w) >= written);
#endif
	assert(USED(w) <= LIMIT)
}

/* What a word amounts to: resolve_dead() of ledger_cell.c. */
inline resolve(w) {
	phase = PHASE(w);
	if
	:: (phase == INSERTING || phase == IN_FLIGHT) && STALE(w) ->
		if
		:: phase == INSERTING || USED(w) == 0 -> phase = FREE
		:: phase == IN_FLIGHT && USED(w) > 0 && (COMMITTED(w) || !OPEN(w)) -> phase = ENDED
		:: else -> phase = (BREAK == BREAK_DEAD_OPEN -> ENDED : REFUSED)
		fi
	:: else
	fi
}

/* The larger finding counts, in the order of ledger_join.c. */
#define NOTHING 0
#define SPENT 1
#define TAKEABLE 2
#define BUSY 3
#define NO_MORE 4
#define PREPARED 5
#define CHANGED 6

inline judge() {
	if
	:: phase == FREE -> finding = NOTHING
	:: phase == INSERTING -> finding = PREPARED
	:: phase == IN_FLIGHT -> finding = BUSY
	:: phase == REFUSED -> finding = NO_MORE
	:: phase == ENDED -> finding = (USED(seen) < LIMIT -> TAKEABLE : SPENT)
	fi;
	if
	:: finding > found -> found = finding; best = seen; best_cell = cell
	:: else
	fi
}

/* Word, is its owner alive, word again (tp_cell_view()); a cell without a tag is passed. */
inline search() {
	do
	:: atomic { cell < CELLS && !tag[cell] -> cell++ }
	:: atomic { cell < CELLS && tag[cell] -> skip };
		seen = word[cell];
		atomic { resolve(seen) };
		atomic {
			if
			:: word[cell] == seen -> judge(); cell++
			:: else -> found = CHANGED; cell = CELLS
			fi;
			phase = 0; finding = 0; seen = 0
		}
	:: cell == CELLS -> break
	od
}

/* Any cell that looks free: which one the code prefers is a matter of speed. */
inline find_room() {
	atomic {
		if
		:: best_cell = 0
		:: best_cell = 1
#if CELLS > 2
		:: best_cell = 2
#endif
		fi;
		best = word[best_cell]
	};
	atomic { resolve(best); room = (phase == FREE); phase = 0 }
	/* the second look is left to the swap, which goes from what was seen */
}

/* insert() of ledger_join.c. */
inline insert() {
	atomic {
		if
		:: word[best_cell] == best ->
			epoch = EPOCH(best) + 1;
			mine = PACK(epoch, 0, 0, 0, INSERTING, me, stamp);
			word[best_cell] = mine;
			got = 1
		:: else -> got = 0
		fi
	};
	if
	:: atomic { got -> tag[best_cell] = 1 }; /* behind the key */
		atomic {
			if
			:: inserts == noted || BREAK == BREAK_COUNT -> inserts++
			:: else -> got = 0
			fi
		};
		if
		:: atomic { got ->
				if
				:: word[best_cell] == mine ->
					word[best_cell] = MINE_FROM(mine, 0, 0, 0, IN_FLIGHT);
					holds[me] = best_cell + 1;
					check_books(word[best_cell]);
					check_alone()
				:: else -> got = 0
				fi
			}
		:: atomic { !got -> tag[best_cell] = 0 };
			atomic {
				if
				:: word[best_cell] == mine -> word[best_cell] = MINE_FROM(mine, 0, 0, 0, FREE)
				:: else
				fi
			}
		fi
	:: !got
	fi
}

/* take() of ledger_join.c: inside of an atomic. */
inline take() {
	if
	:: word[best_cell] == best || BREAK == BREAK_TAKE ->
		epoch = EPOCH(best) + 1;
		word[best_cell] = PACK(epoch, USED(best), 0, 0, IN_FLIGHT, me, stamp);
		holds[me] = best_cell + 1;
		got = 1;
		check_books(word[best_cell]);
		check_alone()
	:: else
	fi
}

/* tp_ledger_join(): got says whether there is a record to work with. */
inline join() {
	do
	:: atomic { tries < TRIES && !got -> noted = inserts; tries++; found = NOTHING; cell = 0 };
		search();
		if
		:: found == CHANGED || found == PREPARED
		:: atomic { found == TAKEABLE -> take() }
		:: found == NOTHING ->
			find_room();
			if
			:: room -> insert()
			:: !room
			fi
		:: found == BUSY || found == SPENT || found == NO_MORE -> tries = TRIES /* no send */
		fi
	:: atomic { tries == TRIES || got -> cell = (got -> best_cell : 0); recorded = got };
		break
	od;
	atomic { best = 0; best_cell = 0; found = 0; room = 0; noted = 0; tries = 0; mine = 0; epoch = (got -> epoch : 0) }
}

/* From here on the turn has no record. */
inline lose() {
	recorded = 0; holds[me] = 0; cell = 0; epoch = 0; mine = 0
}

/* Inside of an atomic. */
inline load_own() {
	mine = word[cell];
	got = OWN(mine);
#ifndef HELD_FOR_DEAD
	assert(got) /* nothing is ever taken from the living */
#endif
}

/* Held for dead between the look at its stamp and the swap, or before: one send in a turn at most. */
inline note_held_for_dead() {
	if
	:: generation[me] != stamp ->
		assert(!slipped);
		slipped = 1;
		unrecorded++
	:: else
	fi
}

/* tp_ledger_charge(): got says whether a send may be written. */
inline charge() {
	if
	:: recorded ->
		atomic {
			if
			:: generation[me] == stamp
			:: else -> lose()
			fi
		};
		if
		:: atomic { recorded -> load_own();
				if
				:: !got -> lose()
				:: got && USED(mine) >= LIMIT -> got = 0
				:: else
				fi
			};
			atomic {
				if
				:: recorded && got && word[cell] == mine ->
					word[cell] = MINE_FROM(mine, USED(mine) + 1, 1, COMMITTED(mine), IN_FLIGHT);
					paid++;
					owed = 1;
					check_books(word[cell]);
					note_held_for_dead()
				:: recorded && got && word[cell] != mine -> lose()
				:: else
				fi
			}
		:: !recorded
		fi
	:: !recorded
	fi;
	atomic {
		if
		:: !recorded -> /* held for dead: only the first send of a turn still goes */
			got = !sent;
			if
			:: got -> note_held_for_dead()
			:: else
			fi
		:: else
		fi;
		sent = sent || got;
		mine = 0
	}
}

/* The first byte goes to the provider. */
inline write_send() {
	atomic {
		written++;
		wrote = 1;
		owed = 0;
		assert(written <= LIMIT + unrecorded);
#ifndef HELD_FOR_DEAD
		assert(!may_have_run && unrecorded == 0)
#endif
	}
}

inline give_back() {
	if
	:: atomic { recorded -> load_own() };
		atomic {
			if
			:: got && ((OPEN(mine) && USED(mine) > 0) || BREAK == BREAK_GIVE_BACK) &&
			   (word[cell] == mine || BREAK == BREAK_EPOCH) ->
				word[cell] = MINE_FROM(mine, USED(mine) - 1, 0, COMMITTED(mine), IN_FLIGHT);
				assert(owed); /* once for each charge, and never after a byte was written */
				owed = 0;
				paid--;
				check_books(word[cell])
			:: else
			fi;
			mine = 0
		}
	:: atomic { !recorded && sent -> sent = 0; slipped = 0 }
	:: !recorded && !sent
	fi
}

/* Settling and committing: the same swap with other bits. */
inline set_bits(o, c) {
	if
	:: atomic { recorded -> load_own() };
		atomic {
			if
			:: got && word[cell] == mine -> word[cell] = MINE_FROM(mine, USED(mine), o, c, IN_FLIGHT)
			:: else
			fi;
			wrote = 0;
			mine = 0
		}
	:: atomic { !recorded -> wrote = 0 }
	fi
}

/* tp_ledger_end() */
inline end(p) {
	if
	:: atomic { recorded -> load_own() };
		if
		:: atomic { got && USED(mine) == 0 -> tag[cell] = 0; holds[me] = 0 };
			/* Nobody finds it any more, its owner only frees it, and another may stand beside it. */
			atomic {
				if
				:: word[cell] == mine -> word[cell] = MINE_FROM(mine, 0, 0, 0, FREE)
				:: else
				fi;
				forget()
			}
		:: atomic { got && USED(mine) > 0 ->
				if
				:: word[cell] == mine -> word[cell] = MINE_FROM(mine, USED(mine), 0, 0, p)
				:: else
				fi;
				forget()
			}
		:: atomic { !got -> forget() }
		fi
	:: atomic { !recorded -> forget() }
	fi
}

inline forget() {
	holds[me] = 0;
	epoch = 0; noted = 0; found = 0; finding = 0; cell = 0; best_cell = 0; tries = 0; phase = 0;
	seen = 0; best = 0; mine = 0; room = 0; got = 0; recorded = 0; sent = 0; wrote = 0; owed = 0; slipped = 0
}

inline turn() {
	join();
	if
	:: got ->
#if BREAK == BREAK_CHARGE
		write_send();
#endif
		do
		:: true -> charge();
			if
			:: !got -> end(ENDED); break
			:: got -> /* refused connection: provably nothing was written */
				give_back();
				if
				:: true /* the next address */
				:: recorded -> give_back() /* asked twice: nothing is open */
				:: true -> end(ENDED); break
				fi
			:: got ->
				write_send();
				if
				:: true -> set_bits(0, 0) /* declined: again, while the budget lasts */
				:: true -> set_bits(0, 0); end(ENDED); break
				:: true -> end(REFUSED); break /* no usable answer: it may have run */
				:: true -> set_bits(OPEN(mine), 1); end(ENDED); break /* answered */
				fi
			fi
		od
	:: !got
	fi
}

active [WORKERS] proctype Worker()
{
	byte me = _pid, stamp, epoch, i, noted, found, finding, cell, best_cell, tries, phase;
	int seen, best, mine;
	bit room, got, recorded, sent, wrote, owed, slipped;

life:
	{
		stamp = generation[me];
		do
		:: atomic { turns_left > 0 -> turns_left-- };
			turn()
		:: atomic { turns_left == 0 -> done++; gone[me] = 1; stamp = 0; goto leave }
		od
	} unless { killed[me] };
	/* What the process knew is gone; the slot's next worker starts with nothing. */
	atomic {
		may_have_run = may_have_run || (wrote && recorded);
		stamp = 0;
		i = 0;
		forget()
	};
	atomic { reaped[me] -> reaped[me] = 0; killed[me] = 0 };
	goto life;
leave:
	skip
}

/* Takes a worker's life, or just takes it for dead. */
inline kill_one(w) {
	atomic {
		kills_left > 0 && !gone[w] && !killed[w] ->
		kills_left--;
#ifdef HELD_FOR_DEAD
		if
		:: killed[w] = 1
		:: true
		fi
#else
		killed[w] = 1
#endif
	};
	atomic { generation[w] = generation[w] + 1; reaped[w] = killed[w] }
}

/* Kills at any time, and reaps some time later with one store. */
active proctype Master()
{
	byte w;
	do
	:: kill_one(0)
	:: kill_one(1)
#if WORKERS > 2
	:: kill_one(2)
#endif
	:: done == WORKERS -> break
	od;
	/* In the end no cell is stuck. */
	atomic {
		do
		:: w < CELLS ->
			assert(PHASE(word[w]) == FREE || PHASE(word[w]) == ENDED || PHASE(word[w]) == REFUSED ||
			       STALE(word[w]));
			w++
		:: else -> break
		od
	}
}
