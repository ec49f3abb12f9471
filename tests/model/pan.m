#define rand	pan_rand
#define pthread_equal(a,b)	((a)==(b))
#if defined(HAS_CODE) && defined(VERBOSE)
	#ifdef BFS_PAR
		bfs_printf("Pr: %d Tr: %d\n", II, t->forw);
	#else
		cpu_printf("Pr: %d Tr: %d\n", II, t->forw);
	#endif
#endif
	switch (t->forw) {
	default: Uerror("bad forward move");
	case 0:	/* if without executable clauses */
		continue;
	case 1: /* generic 'goto' or 'skip' */
		IfNotBlocked
		_m = 3; goto P999;
	case 2: /* generic 'else' */
		IfNotBlocked
		if (trpt->o_pm&1) continue;
		_m = 3; goto P999;

		 /* PROC Master */
	case 3: // STATE 1 - ledger.pml:481 - [(((kills_left>0)&&(done<2)))] (5:0:1 - 1)
		IfNotBlocked
		reached[1][1] = 1;
		if (!(((((int)now.kills_left)>0)&&(((int)now.done)<2))))
			continue;
		/* merge: kills_left = (kills_left-1)(0, 2, 5) */
		reached[1][2] = 1;
		(trpt+1)->bup.oval = ((int)now.kills_left);
		now.kills_left = (((int)now.kills_left)-1);
#ifdef VAR_RANGES
		logval("kills_left", ((int)now.kills_left));
#endif
		;
		_m = 3; goto P999; /* 1 */
	case 4: // STATE 3 - ledger.pml:484 - [w = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[1][3] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->w);
		((P1 *)_this)->w = 0;
#ifdef VAR_RANGES
		logval("Master:w", ((int)((P1 *)_this)->w));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 5: // STATE 4 - ledger.pml:485 - [w = 1] (0:0:1 - 1)
		IfNotBlocked
		reached[1][4] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->w);
		((P1 *)_this)->w = 1;
#ifdef VAR_RANGES
		logval("Master:w", ((int)((P1 *)_this)->w));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 6: // STATE 7 - ledger.pml:494 - [(!(killed[w]))] (18:0:1 - 1)
		IfNotBlocked
		reached[1][7] = 1;
		if (!( !(((int)now.killed[ Index(((int)((P1 *)_this)->w), 2) ]))))
			continue;
		/* merge: killed[w] = 1(18, 8, 18) */
		reached[1][8] = 1;
		(trpt+1)->bup.oval = ((int)now.killed[ Index(((int)((P1 *)_this)->w), 2) ]);
		now.killed[ Index(((P1 *)_this)->w, 2) ] = 1;
#ifdef VAR_RANGES
		logval("killed[Master:w]", ((int)now.killed[ Index(((int)((P1 *)_this)->w), 2) ]));
#endif
		;
		/* merge: .(goto)(18, 13, 18) */
		reached[1][13] = 1;
		;
		_m = 3; goto P999; /* 2 */
	case 7: // STATE 10 - ledger.pml:495 - [w = 0] (0:19:1 - 1)
		IfNotBlocked
		reached[1][10] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->w);
		((P1 *)_this)->w = 0;
#ifdef VAR_RANGES
		logval("Master:w", ((int)((P1 *)_this)->w));
#endif
		;
		/* merge: goto next(19, 11, 19) */
		reached[1][11] = 1;
		;
		_m = 3; goto P999; /* 1 */
	case 8: // STATE 15 - ledger.pml:498 - [generation[w] = (generation[w]+1)] (0:19:3 - 1)
		IfNotBlocked
		reached[1][15] = 1;
		(trpt+1)->bup.ovals = grab_ints(3);
		(trpt+1)->bup.ovals[0] = ((int)now.generation[ Index(((int)((P1 *)_this)->w), 2) ]);
		now.generation[ Index(((P1 *)_this)->w, 2) ] = (((int)now.generation[ Index(((int)((P1 *)_this)->w), 2) ])+1);
#ifdef VAR_RANGES
		logval("generation[Master:w]", ((int)now.generation[ Index(((int)((P1 *)_this)->w), 2) ]));
#endif
		;
		/* merge: reaped[w] = 1(19, 16, 19) */
		reached[1][16] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.reaped[ Index(((int)((P1 *)_this)->w), 2) ]);
		now.reaped[ Index(((P1 *)_this)->w, 2) ] = 1;
#ifdef VAR_RANGES
		logval("reaped[Master:w]", ((int)now.reaped[ Index(((int)((P1 *)_this)->w), 2) ]));
#endif
		;
		/* merge: w = 0(19, 17, 19) */
		reached[1][17] = 1;
		(trpt+1)->bup.ovals[2] = ((int)((P1 *)_this)->w);
		((P1 *)_this)->w = 0;
#ifdef VAR_RANGES
		logval("Master:w", ((int)((P1 *)_this)->w));
#endif
		;
		_m = 3; goto P999; /* 2 */
	case 9: // STATE 20 - ledger.pml:501 - [((done==2))] (0:0:0 - 1)
		IfNotBlocked
		reached[1][20] = 1;
		if (!((((int)now.done)==2)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 10: // STATE 25 - ledger.pml:504 - [w = 0] (0:31:1 - 3)
		IfNotBlocked
		reached[1][25] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->w);
		((P1 *)_this)->w = 0;
#ifdef VAR_RANGES
		logval("Master:w", ((int)((P1 *)_this)->w));
#endif
		;
		/* merge: .(goto)(0, 32, 31) */
		reached[1][32] = 1;
		;
		_m = 3; goto P999; /* 1 */
	case 11: // STATE 26 - ledger.pml:506 - [((w<2))] (0:0:0 - 1)
		IfNotBlocked
		reached[1][26] = 1;
		if (!((((int)((P1 *)_this)->w)<2)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 12: // STATE 27 - ledger.pml:507 - [assert(((((((word[w]>>5)&7)==0)||(((word[w]>>5)&7)==3))||(((word[w]>>5)&7)==4))||(generation[((word[w]>>3)&3)]!=(word[w]&7))))] (0:0:0 - 1)
		IfNotBlocked
		reached[1][27] = 1;
		spin_assert(((((((now.word[ Index(((int)((P1 *)_this)->w), 2) ]>>5)&7)==0)||(((now.word[ Index(((int)((P1 *)_this)->w), 2) ]>>5)&7)==3))||(((now.word[ Index(((int)((P1 *)_this)->w), 2) ]>>5)&7)==4))||(((int)now.generation[ Index(((now.word[ Index(((int)((P1 *)_this)->w), 2) ]>>3)&3), 2) ])!=(now.word[ Index(((int)((P1 *)_this)->w), 2) ]&7))), "((((((word[w]>>5)&7)==0)||(((word[w]>>5)&7)==3))||(((word[w]>>5)&7)==4))||(generation[((word[w]>>3)&3)]!=(word[w]&7)))", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 13: // STATE 28 - ledger.pml:508 - [w = (w+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[1][28] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->w);
		((P1 *)_this)->w = (((int)((P1 *)_this)->w)+1);
#ifdef VAR_RANGES
		logval("Master:w", ((int)((P1 *)_this)->w));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 14: // STATE 34 - ledger.pml:511 - [-end-] (0:0:0 - 3)
		IfNotBlocked
		reached[1][34] = 1;
		if (!delproc(1, II)) continue;
		_m = 3; goto P999; /* 0 */

		 /* PROC Worker */
	case 15: // STATE 1 - ledger.pml:450 - [stamp = generation[me]] (0:0:1 - 1)
		IfNotBlocked
		reached[0][1] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->stamp);
		((P0 *)_this)->stamp = ((int)now.generation[ Index(((int)((P0 *)_this)->me), 2) ]);
#ifdef VAR_RANGES
		logval("Worker:stamp", ((int)((P0 *)_this)->stamp));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 16: // STATE 633 - ledger.pml:458 - [(killed[me])] (0:0:0 - 402)
		IfNotBlocked
		reached[0][633] = 1;
		if (!(((int)now.killed[ Index(((int)((P0 *)_this)->me), 2) ])))
			continue;
		_m = 3; goto P999; /* 0 */
	case 17: // STATE 2 - ledger.pml:452 - [((turns_left>0))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][2] = 1;
		if (!((((int)now.turns_left)>0)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 18: // STATE 3 - ledger.pml:452 - [turns_left = (turns_left-1)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][3] = 1;
		(trpt+1)->bup.oval = ((int)now.turns_left);
		now.turns_left = (((int)now.turns_left)-1);
#ifdef VAR_RANGES
		logval("turns_left", ((int)now.turns_left));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 19: // STATE 5 - ledger.pml:258 - [got = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][5] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = 0;
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 20: // STATE 6 - ledger.pml:259 - [tries = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][6] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->tries);
		((P0 *)_this)->tries = 0;
#ifdef VAR_RANGES
		logval("Worker:tries", ((int)((P0 *)_this)->tries));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 21: // STATE 7 - ledger.pml:261 - [(((tries<2)&&!(got)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][7] = 1;
		if (!(((((int)((P0 *)_this)->tries)<2)&& !(((int)((P0 *)_this)->got)))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 22: // STATE 8 - ledger.pml:262 - [noted = inserts] (0:0:1 - 1)
		IfNotBlocked
		reached[0][8] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->noted);
		((P0 *)_this)->noted = ((int)now.inserts);
#ifdef VAR_RANGES
		logval("Worker:noted", ((int)((P0 *)_this)->noted));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 23: // STATE 9 - ledger.pml:138 - [found = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][9] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->found);
		((P0 *)_this)->found = 0;
#ifdef VAR_RANGES
		logval("Worker:found", ((int)((P0 *)_this)->found));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 24: // STATE 10 - ledger.pml:139 - [cell = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][10] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->cell);
		((P0 *)_this)->cell = 0;
#ifdef VAR_RANGES
		logval("Worker:cell", ((int)((P0 *)_this)->cell));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 25: // STATE 11 - ledger.pml:141 - [((cell<2))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][11] = 1;
		if (!((((int)((P0 *)_this)->cell)<2)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 26: // STATE 12 - ledger.pml:143 - [(tag[cell])] (0:0:0 - 1)
		IfNotBlocked
		reached[0][12] = 1;
		if (!(((int)now.tag[ Index(((int)((P0 *)_this)->cell), 2) ])))
			continue;
		_m = 3; goto P999; /* 0 */
	case 27: // STATE 13 - ledger.pml:106 - [seen = word[cell]] (0:0:1 - 1)
		IfNotBlocked
		reached[0][13] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->seen;
		((P0 *)_this)->seen = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
#ifdef VAR_RANGES
		logval("Worker:seen", ((P0 *)_this)->seen);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 28: // STATE 14 - ledger.pml:107 - [seen_key = key[cell]] (0:0:1 - 1)
		IfNotBlocked
		reached[0][14] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->seen_key);
		((P0 *)_this)->seen_key = ((int)now.key[ Index(((int)((P0 *)_this)->cell), 2) ]);
#ifdef VAR_RANGES
		logval("Worker:seen_key", ((int)((P0 *)_this)->seen_key));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 29: // STATE 15 - ledger.pml:109 - [phase = ((seen>>5)&7)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][15] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->phase);
		((P0 *)_this)->phase = ((((P0 *)_this)->seen>>5)&7);
#ifdef VAR_RANGES
		logval("Worker:phase", ((int)((P0 *)_this)->phase));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 30: // STATE 16 - ledger.pml:111 - [((((phase==1)||(phase==2))&&(generation[((seen>>3)&3)]!=(seen&7))))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][16] = 1;
		if (!((((((int)((P0 *)_this)->phase)==1)||(((int)((P0 *)_this)->phase)==2))&&(((int)now.generation[ Index(((((P0 *)_this)->seen>>3)&3), 2) ])!=(((P0 *)_this)->seen&7)))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 31: // STATE 17 - ledger.pml:113 - [(((phase==1)||(((seen>>10)&15)==0)))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][17] = 1;
		if (!(((((int)((P0 *)_this)->phase)==1)||(((((P0 *)_this)->seen>>10)&15)==0))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: phase */  (trpt+1)->bup.oval = ((P0 *)_this)->phase;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->phase = 0;
		_m = 3; goto P999; /* 0 */
	case 32: // STATE 18 - ledger.pml:113 - [phase = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][18] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->phase);
		((P0 *)_this)->phase = 0;
#ifdef VAR_RANGES
		logval("Worker:phase", ((int)((P0 *)_this)->phase));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 33: // STATE 20 - ledger.pml:116 - [(((seen>>8)&1))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][20] = 1;
		if (!(((((P0 *)_this)->seen>>8)&1)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 34: // STATE 21 - ledger.pml:116 - [phase = 3] (0:0:1 - 1)
		IfNotBlocked
		reached[0][21] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->phase);
		((P0 *)_this)->phase = 3;
#ifdef VAR_RANGES
		logval("Worker:phase", ((int)((P0 *)_this)->phase));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 35: // STATE 22 - ledger.pml:117 - [((!(((seen>>8)&1))&&((seen>>9)&1)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][22] = 1;
		if (!(( !(((((P0 *)_this)->seen>>8)&1))&&((((P0 *)_this)->seen>>9)&1))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 36: // STATE 23 - ledger.pml:118 - [phase = ( ((0==3)) -> (3) : (4) )] (0:0:1 - 1)
		IfNotBlocked
		reached[0][23] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->phase);
		((P0 *)_this)->phase = ( ((0==3)) ? (3) : (4) );
#ifdef VAR_RANGES
		logval("Worker:phase", ((int)((P0 *)_this)->phase));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 37: // STATE 25 - ledger.pml:119 - [phase = 3] (0:0:1 - 1)
		IfNotBlocked
		reached[0][25] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->phase);
		((P0 *)_this)->phase = 3;
#ifdef VAR_RANGES
		logval("Worker:phase", ((int)((P0 *)_this)->phase));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 38: // STATE 34 - ledger.pml:125 - [same = (word[cell]==seen)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][34] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->same);
		((P0 *)_this)->same = (now.word[ Index(((int)((P0 *)_this)->cell), 2) ]==((P0 *)_this)->seen);
#ifdef VAR_RANGES
		logval("Worker:same", ((int)((P0 *)_this)->same));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 39: // STATE 36 - ledger.pml:147 - [(!(same))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][36] = 1;
		if (!( !(((int)((P0 *)_this)->same))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: same */  (trpt+1)->bup.oval = ((P0 *)_this)->same;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->same = 0;
		_m = 3; goto P999; /* 0 */
	case 40: // STATE 37 - ledger.pml:147 - [found = 6] (0:0:1 - 1)
		IfNotBlocked
		reached[0][37] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->found);
		((P0 *)_this)->found = 6;
#ifdef VAR_RANGES
		logval("Worker:found", ((int)((P0 *)_this)->found));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 41: // STATE 38 - ledger.pml:147 - [cell = 2] (0:0:1 - 1)
		IfNotBlocked
		reached[0][38] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->cell);
		((P0 *)_this)->cell = 2;
#ifdef VAR_RANGES
		logval("Worker:cell", ((int)((P0 *)_this)->cell));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 42: // STATE 39 - ledger.pml:148 - [((same&&seen_key))] (0:0:2 - 1)
		IfNotBlocked
		reached[0][39] = 1;
		if (!((((int)((P0 *)_this)->same)&&((int)((P0 *)_this)->seen_key))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: same */  (trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((P0 *)_this)->same;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->same = 0;
		if (TstOnly) return 1; /* TT */
		/* dead 1: seen_key */  (trpt+1)->bup.ovals[1] = ((P0 *)_this)->seen_key;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->seen_key = 0;
		_m = 3; goto P999; /* 0 */
	case 43: // STATE 40 - ledger.pml:149 - [finding = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][40] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->finding);
		((P0 *)_this)->finding = 0;
#ifdef VAR_RANGES
		logval("Worker:finding", ((int)((P0 *)_this)->finding));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 44: // STATE 41 - ledger.pml:151 - [((phase==0))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][41] = 1;
		if (!((((int)((P0 *)_this)->phase)==0)))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: phase */  (trpt+1)->bup.oval = ((P0 *)_this)->phase;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->phase = 0;
		_m = 3; goto P999; /* 0 */
	case 45: // STATE 42 - ledger.pml:152 - [((phase==1))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][42] = 1;
		if (!((((int)((P0 *)_this)->phase)==1)))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: phase */  (trpt+1)->bup.oval = ((P0 *)_this)->phase;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->phase = 0;
		_m = 3; goto P999; /* 0 */
	case 46: // STATE 43 - ledger.pml:152 - [finding = 5] (0:0:1 - 1)
		IfNotBlocked
		reached[0][43] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->finding);
		((P0 *)_this)->finding = 5;
#ifdef VAR_RANGES
		logval("Worker:finding", ((int)((P0 *)_this)->finding));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 47: // STATE 44 - ledger.pml:153 - [((phase==2))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][44] = 1;
		if (!((((int)((P0 *)_this)->phase)==2)))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: phase */  (trpt+1)->bup.oval = ((P0 *)_this)->phase;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->phase = 0;
		_m = 3; goto P999; /* 0 */
	case 48: // STATE 45 - ledger.pml:153 - [finding = 3] (0:0:1 - 1)
		IfNotBlocked
		reached[0][45] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->finding);
		((P0 *)_this)->finding = 3;
#ifdef VAR_RANGES
		logval("Worker:finding", ((int)((P0 *)_this)->finding));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 49: // STATE 46 - ledger.pml:154 - [((phase==4))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][46] = 1;
		if (!((((int)((P0 *)_this)->phase)==4)))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: phase */  (trpt+1)->bup.oval = ((P0 *)_this)->phase;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->phase = 0;
		_m = 3; goto P999; /* 0 */
	case 50: // STATE 47 - ledger.pml:154 - [finding = 4] (0:0:1 - 1)
		IfNotBlocked
		reached[0][47] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->finding);
		((P0 *)_this)->finding = 4;
#ifdef VAR_RANGES
		logval("Worker:finding", ((int)((P0 *)_this)->finding));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 51: // STATE 48 - ledger.pml:155 - [((phase==3))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][48] = 1;
		if (!((((int)((P0 *)_this)->phase)==3)))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: phase */  (trpt+1)->bup.oval = ((P0 *)_this)->phase;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->phase = 0;
		_m = 3; goto P999; /* 0 */
	case 52: // STATE 49 - ledger.pml:155 - [finding = ( ((((seen>>10)&15)<2)) -> (2) : (1) )] (0:0:1 - 1)
		IfNotBlocked
		reached[0][49] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->finding);
		((P0 *)_this)->finding = ( ((((((P0 *)_this)->seen>>10)&15)<2)) ? (2) : (1) );
#ifdef VAR_RANGES
		logval("Worker:finding", ((int)((P0 *)_this)->finding));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 53: // STATE 52 - ledger.pml:158 - [((finding>found))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][52] = 1;
		if (!((((int)((P0 *)_this)->finding)>((int)((P0 *)_this)->found))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: found */  (trpt+1)->bup.oval = ((P0 *)_this)->found;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->found = 0;
		_m = 3; goto P999; /* 0 */
	case 54: // STATE 53 - ledger.pml:158 - [found = finding] (0:0:1 - 1)
		IfNotBlocked
		reached[0][53] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->found);
		((P0 *)_this)->found = ((int)((P0 *)_this)->finding);
#ifdef VAR_RANGES
		logval("Worker:found", ((int)((P0 *)_this)->found));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 55: // STATE 54 - ledger.pml:158 - [best = seen] (0:0:1 - 1)
		IfNotBlocked
		reached[0][54] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->best;
		((P0 *)_this)->best = ((P0 *)_this)->seen;
#ifdef VAR_RANGES
		logval("Worker:best", ((P0 *)_this)->best);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 56: // STATE 55 - ledger.pml:158 - [best_cell = cell] (0:0:1 - 1)
		IfNotBlocked
		reached[0][55] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->best_cell);
		((P0 *)_this)->best_cell = ((int)((P0 *)_this)->cell);
#ifdef VAR_RANGES
		logval("Worker:best_cell", ((int)((P0 *)_this)->best_cell));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 57: // STATE 62 - ledger.pml:163 - [phase = 0] (0:0:1 - 6)
		IfNotBlocked
		reached[0][62] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->phase);
		((P0 *)_this)->phase = 0;
#ifdef VAR_RANGES
		logval("Worker:phase", ((int)((P0 *)_this)->phase));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 58: // STATE 63 - ledger.pml:163 - [seen_key = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][63] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->seen_key);
		((P0 *)_this)->seen_key = 0;
#ifdef VAR_RANGES
		logval("Worker:seen_key", ((int)((P0 *)_this)->seen_key));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 59: // STATE 64 - ledger.pml:163 - [finding = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][64] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->finding);
		((P0 *)_this)->finding = 0;
#ifdef VAR_RANGES
		logval("Worker:finding", ((int)((P0 *)_this)->finding));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 60: // STATE 65 - ledger.pml:163 - [same = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][65] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->same);
		((P0 *)_this)->same = 0;
#ifdef VAR_RANGES
		logval("Worker:same", ((int)((P0 *)_this)->same));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 61: // STATE 66 - ledger.pml:163 - [seen = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][66] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->seen;
		((P0 *)_this)->seen = 0;
#ifdef VAR_RANGES
		logval("Worker:seen", ((P0 *)_this)->seen);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 62: // STATE 71 - ledger.pml:167 - [cell = (cell+1)] (0:0:1 - 3)
		IfNotBlocked
		reached[0][71] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->cell);
		((P0 *)_this)->cell = (((int)((P0 *)_this)->cell)+1);
#ifdef VAR_RANGES
		logval("Worker:cell", ((int)((P0 *)_this)->cell));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 63: // STATE 77 - ledger.pml:170 - [cell = 0] (0:0:1 - 3)
		IfNotBlocked
		reached[0][77] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->cell);
		((P0 *)_this)->cell = 0;
#ifdef VAR_RANGES
		logval("Worker:cell", ((int)((P0 *)_this)->cell));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 64: // STATE 79 - ledger.pml:265 - [(((found==6)||(found==5)))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][79] = 1;
		if (!(((((int)((P0 *)_this)->found)==6)||(((int)((P0 *)_this)->found)==5))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: found */  (trpt+1)->bup.oval = ((P0 *)_this)->found;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->found = 0;
		_m = 3; goto P999; /* 0 */
	case 65: // STATE 80 - ledger.pml:266 - [((found==2))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][80] = 1;
		if (!((((int)((P0 *)_this)->found)==2)))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: found */  (trpt+1)->bup.oval = ((P0 *)_this)->found;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->found = 0;
		_m = 3; goto P999; /* 0 */
	case 66: // STATE 81 - ledger.pml:244 - [(((word[best_cell]==best)||(0==2)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][81] = 1;
		if (!(((now.word[ Index(((int)((P0 *)_this)->best_cell), 2) ]==((P0 *)_this)->best)||(0==2))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 67: // STATE 82 - ledger.pml:245 - [epoch = ((best>>14)+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][82] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->epoch);
		((P0 *)_this)->epoch = ((((P0 *)_this)->best>>14)+1);
#ifdef VAR_RANGES
		logval("Worker:epoch", ((int)((P0 *)_this)->epoch));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 68: // STATE 83 - ledger.pml:246 - [word[best_cell] = (((((((epoch<<14)|(((best>>10)&15)<<10))|(0<<9))|(0<<8))|(2<<5))|(me<<3))|stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][83] = 1;
		(trpt+1)->bup.oval = now.word[ Index(((int)((P0 *)_this)->best_cell), 2) ];
		now.word[ Index(((P0 *)_this)->best_cell, 2) ] = (((((((((int)((P0 *)_this)->epoch)<<14)|(((((P0 *)_this)->best>>10)&15)<<10))|(0<<9))|(0<<8))|(2<<5))|(((int)((P0 *)_this)->me)<<3))|((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("word[Worker:best_cell]", now.word[ Index(((int)((P0 *)_this)->best_cell), 2) ]);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 69: // STATE 84 - ledger.pml:247 - [holds[me] = (best_cell+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][84] = 1;
		(trpt+1)->bup.oval = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = (((int)((P0 *)_this)->best_cell)+1);
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 70: // STATE 85 - ledger.pml:248 - [got = 1] (0:0:1 - 1)
		IfNotBlocked
		reached[0][85] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = 1;
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 71: // STATE 86 - ledger.pml:98 - [assert((((word[best_cell]>>10)&15)==(charged-given_back)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][86] = 1;
		spin_assert((((now.word[ Index(((int)((P0 *)_this)->best_cell), 2) ]>>10)&15)==(((int)now.charged)-((int)now.given_back))), "(((word[best_cell]>>10)&15)==(charged-given_back))", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 72: // STATE 87 - ledger.pml:99 - [assert((((word[best_cell]>>10)&15)>=(written-unrecorded)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][87] = 1;
		spin_assert((((now.word[ Index(((int)((P0 *)_this)->best_cell), 2) ]>>10)&15)>=(((int)now.written)-((int)now.unrecorded))), "(((word[best_cell]>>10)&15)>=(written-unrecorded))", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 73: // STATE 88 - ledger.pml:100 - [assert(((charged-given_back)<=2))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][88] = 1;
		spin_assert(((((int)now.charged)-((int)now.given_back))<=2), "((charged-given_back)<=2)", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 74: // STATE 90 - ledger.pml:84 - [i = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][90] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->i);
		((P0 *)_this)->i = 0;
#ifdef VAR_RANGES
		logval("Worker:i", ((int)((P0 *)_this)->i));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 75: // STATE 91 - ledger.pml:86 - [((i<2))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][91] = 1;
		if (!((((int)((P0 *)_this)->i)<2)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 76: // STATE 92 - ledger.pml:88 - [assert((((i==me)||(holds[i]==0))||killed[i]))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][92] = 1;
		spin_assert((((((int)((P0 *)_this)->i)==((int)((P0 *)_this)->me))||(((int)now.holds[ Index(((int)((P0 *)_this)->i), 2) ])==0))||((int)now.killed[ Index(((int)((P0 *)_this)->i), 2) ])), "(((i==me)||(holds[i]==0))||killed[i])", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 77: // STATE 93 - ledger.pml:90 - [i = (i+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][93] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->i);
		((P0 *)_this)->i = (((int)((P0 *)_this)->i)+1);
#ifdef VAR_RANGES
		logval("Worker:i", ((int)((P0 *)_this)->i));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 78: // STATE 99 - ledger.pml:93 - [i = 0] (0:0:1 - 3)
		IfNotBlocked
		reached[0][99] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->i);
		((P0 *)_this)->i = 0;
#ifdef VAR_RANGES
		logval("Worker:i", ((int)((P0 *)_this)->i));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 79: // STATE 102 - ledger.pml:251 - [got = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][102] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = 0;
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 80: // STATE 107 - ledger.pml:267 - [((found==0))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][107] = 1;
		if (!((((int)((P0 *)_this)->found)==0)))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: found */  (trpt+1)->bup.oval = ((P0 *)_this)->found;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->found = 0;
		_m = 3; goto P999; /* 0 */
	case 81: // STATE 108 - ledger.pml:177 - [cell = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][108] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->cell);
		((P0 *)_this)->cell = 0;
#ifdef VAR_RANGES
		logval("Worker:cell", ((int)((P0 *)_this)->cell));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 82: // STATE 109 - ledger.pml:178 - [cell = 1] (0:0:1 - 1)
		IfNotBlocked
		reached[0][109] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->cell);
		((P0 *)_this)->cell = 1;
#ifdef VAR_RANGES
		logval("Worker:cell", ((int)((P0 *)_this)->cell));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 83: // STATE 113 - ledger.pml:106 - [seen = word[cell]] (0:0:1 - 1)
		IfNotBlocked
		reached[0][113] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->seen;
		((P0 *)_this)->seen = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
#ifdef VAR_RANGES
		logval("Worker:seen", ((P0 *)_this)->seen);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 84: // STATE 114 - ledger.pml:107 - [seen_key = key[cell]] (0:0:2 - 1)
		IfNotBlocked
		reached[0][114] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)((P0 *)_this)->seen_key);
		((P0 *)_this)->seen_key = ((int)now.key[ Index(((int)((P0 *)_this)->cell), 2) ]);
#ifdef VAR_RANGES
		logval("Worker:seen_key", ((int)((P0 *)_this)->seen_key));
#endif
		;
		if (TstOnly) return 1; /* TT */
		/* dead 2: seen_key */  
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->seen_key = 0;
		_m = 3; goto P999; /* 0 */
	case 85: // STATE 115 - ledger.pml:109 - [phase = ((seen>>5)&7)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][115] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->phase);
		((P0 *)_this)->phase = ((((P0 *)_this)->seen>>5)&7);
#ifdef VAR_RANGES
		logval("Worker:phase", ((int)((P0 *)_this)->phase));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 86: // STATE 116 - ledger.pml:111 - [((((phase==1)||(phase==2))&&(generation[((seen>>3)&3)]!=(seen&7))))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][116] = 1;
		if (!((((((int)((P0 *)_this)->phase)==1)||(((int)((P0 *)_this)->phase)==2))&&(((int)now.generation[ Index(((((P0 *)_this)->seen>>3)&3), 2) ])!=(((P0 *)_this)->seen&7)))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 87: // STATE 117 - ledger.pml:113 - [(((phase==1)||(((seen>>10)&15)==0)))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][117] = 1;
		if (!(((((int)((P0 *)_this)->phase)==1)||(((((P0 *)_this)->seen>>10)&15)==0))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: phase */  (trpt+1)->bup.oval = ((P0 *)_this)->phase;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->phase = 0;
		_m = 3; goto P999; /* 0 */
	case 88: // STATE 118 - ledger.pml:113 - [phase = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][118] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->phase);
		((P0 *)_this)->phase = 0;
#ifdef VAR_RANGES
		logval("Worker:phase", ((int)((P0 *)_this)->phase));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 89: // STATE 120 - ledger.pml:116 - [(((seen>>8)&1))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][120] = 1;
		if (!(((((P0 *)_this)->seen>>8)&1)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 90: // STATE 121 - ledger.pml:116 - [phase = 3] (0:0:1 - 1)
		IfNotBlocked
		reached[0][121] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->phase);
		((P0 *)_this)->phase = 3;
#ifdef VAR_RANGES
		logval("Worker:phase", ((int)((P0 *)_this)->phase));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 91: // STATE 122 - ledger.pml:117 - [((!(((seen>>8)&1))&&((seen>>9)&1)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][122] = 1;
		if (!(( !(((((P0 *)_this)->seen>>8)&1))&&((((P0 *)_this)->seen>>9)&1))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 92: // STATE 123 - ledger.pml:118 - [phase = ( ((0==3)) -> (3) : (4) )] (0:0:1 - 1)
		IfNotBlocked
		reached[0][123] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->phase);
		((P0 *)_this)->phase = ( ((0==3)) ? (3) : (4) );
#ifdef VAR_RANGES
		logval("Worker:phase", ((int)((P0 *)_this)->phase));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 93: // STATE 125 - ledger.pml:119 - [phase = 3] (0:0:1 - 1)
		IfNotBlocked
		reached[0][125] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->phase);
		((P0 *)_this)->phase = 3;
#ifdef VAR_RANGES
		logval("Worker:phase", ((int)((P0 *)_this)->phase));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 94: // STATE 134 - ledger.pml:125 - [same = (word[cell]==seen)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][134] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->same);
		((P0 *)_this)->same = (now.word[ Index(((int)((P0 *)_this)->cell), 2) ]==((P0 *)_this)->seen);
#ifdef VAR_RANGES
		logval("Worker:same", ((int)((P0 *)_this)->same));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 95: // STATE 136 - ledger.pml:186 - [best = seen] (0:0:1 - 1)
		IfNotBlocked
		reached[0][136] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->best;
		((P0 *)_this)->best = ((P0 *)_this)->seen;
#ifdef VAR_RANGES
		logval("Worker:best", ((P0 *)_this)->best);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 96: // STATE 137 - ledger.pml:186 - [best_cell = cell] (0:0:1 - 1)
		IfNotBlocked
		reached[0][137] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->best_cell);
		((P0 *)_this)->best_cell = ((int)((P0 *)_this)->cell);
#ifdef VAR_RANGES
		logval("Worker:best_cell", ((int)((P0 *)_this)->best_cell));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 97: // STATE 138 - ledger.pml:187 - [room = (same&&(phase==0))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][138] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->room);
		((P0 *)_this)->room = (((int)((P0 *)_this)->same)&&(((int)((P0 *)_this)->phase)==0));
#ifdef VAR_RANGES
		logval("Worker:room", ((int)((P0 *)_this)->room));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 98: // STATE 139 - ledger.pml:188 - [phase = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][139] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->phase);
		((P0 *)_this)->phase = 0;
#ifdef VAR_RANGES
		logval("Worker:phase", ((int)((P0 *)_this)->phase));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 99: // STATE 140 - ledger.pml:188 - [seen_key = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][140] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->seen_key);
		((P0 *)_this)->seen_key = 0;
#ifdef VAR_RANGES
		logval("Worker:seen_key", ((int)((P0 *)_this)->seen_key));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 100: // STATE 141 - ledger.pml:188 - [same = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][141] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->same);
		((P0 *)_this)->same = 0;
#ifdef VAR_RANGES
		logval("Worker:same", ((int)((P0 *)_this)->same));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 101: // STATE 142 - ledger.pml:188 - [seen = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][142] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->seen;
		((P0 *)_this)->seen = 0;
#ifdef VAR_RANGES
		logval("Worker:seen", ((P0 *)_this)->seen);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 102: // STATE 143 - ledger.pml:188 - [cell = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][143] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->cell);
		((P0 *)_this)->cell = 0;
#ifdef VAR_RANGES
		logval("Worker:cell", ((int)((P0 *)_this)->cell));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 103: // STATE 146 - ledger.pml:270 - [(room)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][146] = 1;
		if (!(((int)((P0 *)_this)->room)))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: room */  (trpt+1)->bup.oval = ((P0 *)_this)->room;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->room = 0;
		_m = 3; goto P999; /* 0 */
	case 104: // STATE 147 - ledger.pml:196 - [((word[best_cell]==best))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][147] = 1;
		if (!((now.word[ Index(((int)((P0 *)_this)->best_cell), 2) ]==((P0 *)_this)->best)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 105: // STATE 148 - ledger.pml:197 - [epoch = ((best>>14)+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][148] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->epoch);
		((P0 *)_this)->epoch = ((((P0 *)_this)->best>>14)+1);
#ifdef VAR_RANGES
		logval("Worker:epoch", ((int)((P0 *)_this)->epoch));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 106: // STATE 149 - ledger.pml:198 - [mine = (((((((epoch<<14)|(0<<10))|(0<<9))|(0<<8))|(1<<5))|(me<<3))|stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][149] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = (((((((((int)((P0 *)_this)->epoch)<<14)|(0<<10))|(0<<9))|(0<<8))|(1<<5))|(((int)((P0 *)_this)->me)<<3))|((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 107: // STATE 150 - ledger.pml:199 - [word[best_cell] = mine] (0:0:1 - 1)
		IfNotBlocked
		reached[0][150] = 1;
		(trpt+1)->bup.oval = now.word[ Index(((int)((P0 *)_this)->best_cell), 2) ];
		now.word[ Index(((P0 *)_this)->best_cell, 2) ] = ((P0 *)_this)->mine;
#ifdef VAR_RANGES
		logval("word[Worker:best_cell]", now.word[ Index(((int)((P0 *)_this)->best_cell), 2) ]);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 108: // STATE 151 - ledger.pml:200 - [got = 1] (0:0:1 - 1)
		IfNotBlocked
		reached[0][151] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = 1;
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 109: // STATE 153 - ledger.pml:201 - [got = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][153] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = 0;
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 110: // STATE 157 - ledger.pml:205 - [(got)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][157] = 1;
		if (!(((int)((P0 *)_this)->got)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 111: // STATE 158 - ledger.pml:206 - [key[best_cell] = 1] (0:0:1 - 1)
		IfNotBlocked
		reached[0][158] = 1;
		(trpt+1)->bup.oval = ((int)now.key[ Index(((int)((P0 *)_this)->best_cell), 2) ]);
		now.key[ Index(((P0 *)_this)->best_cell, 2) ] = 1;
#ifdef VAR_RANGES
		logval("key[Worker:best_cell]", ((int)now.key[ Index(((int)((P0 *)_this)->best_cell), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 112: // STATE 159 - ledger.pml:207 - [tag[best_cell] = 1] (0:0:1 - 1)
		IfNotBlocked
		reached[0][159] = 1;
		(trpt+1)->bup.oval = ((int)now.tag[ Index(((int)((P0 *)_this)->best_cell), 2) ]);
		now.tag[ Index(((P0 *)_this)->best_cell, 2) ] = 1;
#ifdef VAR_RANGES
		logval("tag[Worker:best_cell]", ((int)now.tag[ Index(((int)((P0 *)_this)->best_cell), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 113: // STATE 160 - ledger.pml:210 - [(((inserts==noted)||(0==1)))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][160] = 1;
		if (!(((((int)now.inserts)==((int)((P0 *)_this)->noted))||(0==1))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: noted */  (trpt+1)->bup.oval = ((P0 *)_this)->noted;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->noted = 0;
		_m = 3; goto P999; /* 0 */
	case 114: // STATE 161 - ledger.pml:210 - [inserts = (inserts+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][161] = 1;
		(trpt+1)->bup.oval = ((int)now.inserts);
		now.inserts = (((int)now.inserts)+1);
#ifdef VAR_RANGES
		logval("inserts", ((int)now.inserts));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 115: // STATE 163 - ledger.pml:211 - [got = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][163] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = 0;
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 116: // STATE 167 - ledger.pml:215 - [(got)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][167] = 1;
		if (!(((int)((P0 *)_this)->got)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 117: // STATE 168 - ledger.pml:218 - [((word[best_cell]==mine))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][168] = 1;
		if (!((now.word[ Index(((int)((P0 *)_this)->best_cell), 2) ]==((P0 *)_this)->mine)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 118: // STATE 169 - ledger.pml:219 - [word[best_cell] = ((((((((mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(2<<5))|(me<<3))|stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][169] = 1;
		(trpt+1)->bup.oval = now.word[ Index(((int)((P0 *)_this)->best_cell), 2) ];
		now.word[ Index(((P0 *)_this)->best_cell, 2) ] = ((((((((((P0 *)_this)->mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(2<<5))|(((int)((P0 *)_this)->me)<<3))|((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("word[Worker:best_cell]", now.word[ Index(((int)((P0 *)_this)->best_cell), 2) ]);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 119: // STATE 170 - ledger.pml:220 - [holds[me] = (best_cell+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][170] = 1;
		(trpt+1)->bup.oval = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = (((int)((P0 *)_this)->best_cell)+1);
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 120: // STATE 171 - ledger.pml:98 - [assert((((word[best_cell]>>10)&15)==(charged-given_back)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][171] = 1;
		spin_assert((((now.word[ Index(((int)((P0 *)_this)->best_cell), 2) ]>>10)&15)==(((int)now.charged)-((int)now.given_back))), "(((word[best_cell]>>10)&15)==(charged-given_back))", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 121: // STATE 172 - ledger.pml:99 - [assert((((word[best_cell]>>10)&15)>=(written-unrecorded)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][172] = 1;
		spin_assert((((now.word[ Index(((int)((P0 *)_this)->best_cell), 2) ]>>10)&15)>=(((int)now.written)-((int)now.unrecorded))), "(((word[best_cell]>>10)&15)>=(written-unrecorded))", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 122: // STATE 173 - ledger.pml:100 - [assert(((charged-given_back)<=2))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][173] = 1;
		spin_assert(((((int)now.charged)-((int)now.given_back))<=2), "((charged-given_back)<=2)", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 123: // STATE 175 - ledger.pml:84 - [i = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][175] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->i);
		((P0 *)_this)->i = 0;
#ifdef VAR_RANGES
		logval("Worker:i", ((int)((P0 *)_this)->i));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 124: // STATE 176 - ledger.pml:86 - [((i<2))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][176] = 1;
		if (!((((int)((P0 *)_this)->i)<2)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 125: // STATE 177 - ledger.pml:88 - [assert((((i==me)||(holds[i]==0))||killed[i]))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][177] = 1;
		spin_assert((((((int)((P0 *)_this)->i)==((int)((P0 *)_this)->me))||(((int)now.holds[ Index(((int)((P0 *)_this)->i), 2) ])==0))||((int)now.killed[ Index(((int)((P0 *)_this)->i), 2) ])), "(((i==me)||(holds[i]==0))||killed[i])", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 126: // STATE 178 - ledger.pml:90 - [i = (i+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][178] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->i);
		((P0 *)_this)->i = (((int)((P0 *)_this)->i)+1);
#ifdef VAR_RANGES
		logval("Worker:i", ((int)((P0 *)_this)->i));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 127: // STATE 184 - ledger.pml:93 - [i = 0] (0:0:1 - 3)
		IfNotBlocked
		reached[0][184] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->i);
		((P0 *)_this)->i = 0;
#ifdef VAR_RANGES
		logval("Worker:i", ((int)((P0 *)_this)->i));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 128: // STATE 187 - ledger.pml:224 - [got = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][187] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = 0;
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 129: // STATE 192 - ledger.pml:228 - [tag[best_cell] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][192] = 1;
		(trpt+1)->bup.oval = ((int)now.tag[ Index(((int)((P0 *)_this)->best_cell), 2) ]);
		now.tag[ Index(((P0 *)_this)->best_cell, 2) ] = 0;
#ifdef VAR_RANGES
		logval("tag[Worker:best_cell]", ((int)now.tag[ Index(((int)((P0 *)_this)->best_cell), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 130: // STATE 193 - ledger.pml:231 - [((word[best_cell]==mine))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][193] = 1;
		if (!((now.word[ Index(((int)((P0 *)_this)->best_cell), 2) ]==((P0 *)_this)->mine)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 131: // STATE 194 - ledger.pml:231 - [word[best_cell] = ((((((((mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(0<<5))|(me<<3))|stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][194] = 1;
		(trpt+1)->bup.oval = now.word[ Index(((int)((P0 *)_this)->best_cell), 2) ];
		now.word[ Index(((P0 *)_this)->best_cell, 2) ] = ((((((((((P0 *)_this)->mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(0<<5))|(((int)((P0 *)_this)->me)<<3))|((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("word[Worker:best_cell]", now.word[ Index(((int)((P0 *)_this)->best_cell), 2) ]);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 132: // STATE 209 - ledger.pml:273 - [tries = (2-1)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][209] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->tries);
		((P0 *)_this)->tries = (2-1);
#ifdef VAR_RANGES
		logval("Worker:tries", ((int)((P0 *)_this)->tries));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 133: // STATE 212 - ledger.pml:275 - [tries = (tries+1)] (0:0:1 - 11)
		IfNotBlocked
		reached[0][212] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->tries);
		((P0 *)_this)->tries = (((int)((P0 *)_this)->tries)+1);
#ifdef VAR_RANGES
		logval("Worker:tries", ((int)((P0 *)_this)->tries));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 134: // STATE 218 - ledger.pml:278 - [cell = best_cell] (0:0:1 - 1)
		IfNotBlocked
		reached[0][218] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->cell);
		((P0 *)_this)->cell = ((int)((P0 *)_this)->best_cell);
#ifdef VAR_RANGES
		logval("Worker:cell", ((int)((P0 *)_this)->cell));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 135: // STATE 219 - ledger.pml:278 - [best = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][219] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->best;
		((P0 *)_this)->best = 0;
#ifdef VAR_RANGES
		logval("Worker:best", ((P0 *)_this)->best);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 136: // STATE 220 - ledger.pml:278 - [best_cell = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][220] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->best_cell);
		((P0 *)_this)->best_cell = 0;
#ifdef VAR_RANGES
		logval("Worker:best_cell", ((int)((P0 *)_this)->best_cell));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 137: // STATE 221 - ledger.pml:278 - [found = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][221] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->found);
		((P0 *)_this)->found = 0;
#ifdef VAR_RANGES
		logval("Worker:found", ((int)((P0 *)_this)->found));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 138: // STATE 222 - ledger.pml:278 - [room = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][222] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->room);
		((P0 *)_this)->room = 0;
#ifdef VAR_RANGES
		logval("Worker:room", ((int)((P0 *)_this)->room));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 139: // STATE 223 - ledger.pml:278 - [noted = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][223] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->noted);
		((P0 *)_this)->noted = 0;
#ifdef VAR_RANGES
		logval("Worker:noted", ((int)((P0 *)_this)->noted));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 140: // STATE 224 - ledger.pml:278 - [tries = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][224] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->tries);
		((P0 *)_this)->tries = 0;
#ifdef VAR_RANGES
		logval("Worker:tries", ((int)((P0 *)_this)->tries));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 141: // STATE 225 - ledger.pml:278 - [mine = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][225] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = 0;
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 142: // STATE 228 - ledger.pml:411 - [(got)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][228] = 1;
		if (!(((int)((P0 *)_this)->got)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 143: // STATE 229 - ledger.pml:412 - [recorded = 1] (0:0:1 - 1)
		IfNotBlocked
		reached[0][229] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->recorded);
		((P0 *)_this)->recorded = 1;
#ifdef VAR_RANGES
		logval("Worker:recorded", ((int)((P0 *)_this)->recorded));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 144: // STATE 231 - ledger.pml:295 - [(recorded)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][231] = 1;
		if (!(((int)((P0 *)_this)->recorded)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 145: // STATE 232 - ledger.pml:296 - [got = (generation[me]==stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][232] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = (((int)now.generation[ Index(((int)((P0 *)_this)->me), 2) ])==((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 146: // STATE 233 - ledger.pml:298 - [(got)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][233] = 1;
		if (!(((int)((P0 *)_this)->got)))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: got */  (trpt+1)->bup.oval = ((P0 *)_this)->got;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->got = 0;
		_m = 3; goto P999; /* 0 */
	case 147: // STATE 234 - ledger.pml:284 - [mine = word[cell]] (0:0:1 - 1)
		IfNotBlocked
		reached[0][234] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 148: // STATE 235 - ledger.pml:285 - [got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][235] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = (((((((P0 *)_this)->mine>>5)&7)==2)&&(((((P0 *)_this)->mine>>3)&3)==((int)((P0 *)_this)->me)))&&((0==6)||(((((P0 *)_this)->mine>>14)==((int)((P0 *)_this)->epoch))&&((((P0 *)_this)->mine&7)==((int)((P0 *)_this)->stamp)))));
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 149: // STATE 236 - ledger.pml:287 - [assert(got)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][236] = 1;
		spin_assert(((int)((P0 *)_this)->got), "got", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 150: // STATE 242 - ledger.pml:302 - [((got&&(((mine>>10)&15)<2)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][242] = 1;
		if (!((((int)((P0 *)_this)->got)&&(((((P0 *)_this)->mine>>10)&15)<2))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 151: // STATE 243 - ledger.pml:305 - [((word[cell]==mine))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][243] = 1;
		if (!((now.word[ Index(((int)((P0 *)_this)->cell), 2) ]==((P0 *)_this)->mine)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 152: // STATE 244 - ledger.pml:306 - [word[cell] = ((((((((mine>>14)<<14)|((((mine>>10)&15)+1)<<10))|(1<<9))|(((mine>>8)&1)<<8))|(2<<5))|(me<<3))|stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][244] = 1;
		(trpt+1)->bup.oval = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
		now.word[ Index(((P0 *)_this)->cell, 2) ] = ((((((((((P0 *)_this)->mine>>14)<<14)|((((((P0 *)_this)->mine>>10)&15)+1)<<10))|(1<<9))|(((((P0 *)_this)->mine>>8)&1)<<8))|(2<<5))|(((int)((P0 *)_this)->me)<<3))|((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("word[Worker:cell]", now.word[ Index(((int)((P0 *)_this)->cell), 2) ]);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 153: // STATE 245 - ledger.pml:307 - [charged = (charged+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][245] = 1;
		(trpt+1)->bup.oval = ((int)now.charged);
		now.charged = (((int)now.charged)+1);
#ifdef VAR_RANGES
		logval("charged", ((int)now.charged));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 154: // STATE 246 - ledger.pml:98 - [assert((((word[cell]>>10)&15)==(charged-given_back)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][246] = 1;
		spin_assert((((now.word[ Index(((int)((P0 *)_this)->cell), 2) ]>>10)&15)==(((int)now.charged)-((int)now.given_back))), "(((word[cell]>>10)&15)==(charged-given_back))", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 155: // STATE 247 - ledger.pml:99 - [assert((((word[cell]>>10)&15)>=(written-unrecorded)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][247] = 1;
		spin_assert((((now.word[ Index(((int)((P0 *)_this)->cell), 2) ]>>10)&15)>=(((int)now.written)-((int)now.unrecorded))), "(((word[cell]>>10)&15)>=(written-unrecorded))", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 156: // STATE 248 - ledger.pml:100 - [assert(((charged-given_back)<=2))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][248] = 1;
		spin_assert(((((int)now.charged)-((int)now.given_back))<=2), "((charged-given_back)<=2)", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 157: // STATE 251 - ledger.pml:309 - [got = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][251] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = 0;
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 158: // STATE 252 - ledger.pml:309 - [recorded = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][252] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->recorded);
		((P0 *)_this)->recorded = 0;
#ifdef VAR_RANGES
		logval("Worker:recorded", ((int)((P0 *)_this)->recorded));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 159: // STATE 253 - ledger.pml:309 - [holds[me] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][253] = 1;
		(trpt+1)->bup.oval = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 160: // STATE 257 - ledger.pml:312 - [((got&&(((mine>>10)&15)>=2)))] (0:0:2 - 1)
		IfNotBlocked
		reached[0][257] = 1;
		if (!((((int)((P0 *)_this)->got)&&(((((P0 *)_this)->mine>>10)&15)>=2))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: got */  (trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((P0 *)_this)->got;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->got = 0;
		if (TstOnly) return 1; /* TT */
		/* dead 1: mine */  (trpt+1)->bup.ovals[1] = ((P0 *)_this)->mine;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->mine = 0;
		_m = 3; goto P999; /* 0 */
	case 161: // STATE 258 - ledger.pml:312 - [got = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][258] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = 0;
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 162: // STATE 260 - ledger.pml:313 - [recorded = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][260] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->recorded);
		((P0 *)_this)->recorded = 0;
#ifdef VAR_RANGES
		logval("Worker:recorded", ((int)((P0 *)_this)->recorded));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 163: // STATE 261 - ledger.pml:313 - [holds[me] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][261] = 1;
		(trpt+1)->bup.oval = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 164: // STATE 267 - ledger.pml:318 - [((!(recorded)&&!(sent)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][267] = 1;
		if (!(( !(((int)((P0 *)_this)->recorded))&& !(((int)((P0 *)_this)->sent)))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 165: // STATE 268 - ledger.pml:318 - [got = 1] (0:0:1 - 1)
		IfNotBlocked
		reached[0][268] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = 1;
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 166: // STATE 269 - ledger.pml:318 - [unrecorded = (unrecorded+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][269] = 1;
		(trpt+1)->bup.oval = ((int)now.unrecorded);
		now.unrecorded = (((int)now.unrecorded)+1);
#ifdef VAR_RANGES
		logval("unrecorded", ((int)now.unrecorded));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 167: // STATE 273 - ledger.pml:321 - [sent = (sent||got)] (0:0:1 - 3)
		IfNotBlocked
		reached[0][273] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->sent);
		((P0 *)_this)->sent = (((int)((P0 *)_this)->sent)||((int)((P0 *)_this)->got));
#ifdef VAR_RANGES
		logval("Worker:sent", ((int)((P0 *)_this)->sent));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 168: // STATE 274 - ledger.pml:322 - [mine = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][274] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = 0;
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 169: // STATE 276 - ledger.pml:419 - [(!(got))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][276] = 1;
		if (!( !(((int)((P0 *)_this)->got))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: got */  (trpt+1)->bup.oval = ((P0 *)_this)->got;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->got = 0;
		_m = 3; goto P999; /* 0 */
	case 170: // STATE 277 - ledger.pml:381 - [(recorded)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][277] = 1;
		if (!(((int)((P0 *)_this)->recorded)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 171: // STATE 278 - ledger.pml:284 - [mine = word[cell]] (0:0:1 - 1)
		IfNotBlocked
		reached[0][278] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 172: // STATE 279 - ledger.pml:285 - [got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][279] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = (((((((P0 *)_this)->mine>>5)&7)==2)&&(((((P0 *)_this)->mine>>3)&3)==((int)((P0 *)_this)->me)))&&((0==6)||(((((P0 *)_this)->mine>>14)==((int)((P0 *)_this)->epoch))&&((((P0 *)_this)->mine&7)==((int)((P0 *)_this)->stamp)))));
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 173: // STATE 280 - ledger.pml:287 - [assert(got)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][280] = 1;
		spin_assert(((int)((P0 *)_this)->got), "got", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 174: // STATE 283 - ledger.pml:384 - [((got&&(((mine>>10)&15)==0)))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][283] = 1;
		if (!((((int)((P0 *)_this)->got)&&(((((P0 *)_this)->mine>>10)&15)==0))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: got */  (trpt+1)->bup.oval = ((P0 *)_this)->got;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->got = 0;
		_m = 3; goto P999; /* 0 */
	case 175: // STATE 284 - ledger.pml:385 - [tag[cell] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][284] = 1;
		(trpt+1)->bup.oval = ((int)now.tag[ Index(((int)((P0 *)_this)->cell), 2) ]);
		now.tag[ Index(((P0 *)_this)->cell, 2) ] = 0;
#ifdef VAR_RANGES
		logval("tag[Worker:cell]", ((int)now.tag[ Index(((int)((P0 *)_this)->cell), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 176: // STATE 285 - ledger.pml:388 - [((word[cell]==mine))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][285] = 1;
		if (!((now.word[ Index(((int)((P0 *)_this)->cell), 2) ]==((P0 *)_this)->mine)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 177: // STATE 286 - ledger.pml:388 - [word[cell] = ((((((((mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(0<<5))|(me<<3))|stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][286] = 1;
		(trpt+1)->bup.oval = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
		now.word[ Index(((P0 *)_this)->cell, 2) ] = ((((((((((P0 *)_this)->mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(0<<5))|(((int)((P0 *)_this)->me)<<3))|((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("word[Worker:cell]", now.word[ Index(((int)((P0 *)_this)->cell), 2) ]);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 178: // STATE 290 - ledger.pml:391 - [holds[me] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][290] = 1;
		(trpt+1)->bup.oval = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 179: // STATE 292 - ledger.pml:393 - [((got&&(((mine>>10)&15)>0)))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][292] = 1;
		if (!((((int)((P0 *)_this)->got)&&(((((P0 *)_this)->mine>>10)&15)>0))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: got */  (trpt+1)->bup.oval = ((P0 *)_this)->got;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->got = 0;
		_m = 3; goto P999; /* 0 */
	case 180: // STATE 293 - ledger.pml:396 - [((word[cell]==mine))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][293] = 1;
		if (!((now.word[ Index(((int)((P0 *)_this)->cell), 2) ]==((P0 *)_this)->mine)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 181: // STATE 294 - ledger.pml:396 - [word[cell] = ((((((((mine>>14)<<14)|(((mine>>10)&15)<<10))|(0<<9))|(0<<8))|(3<<5))|(me<<3))|stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][294] = 1;
		(trpt+1)->bup.oval = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
		now.word[ Index(((P0 *)_this)->cell, 2) ] = ((((((((((P0 *)_this)->mine>>14)<<14)|(((((P0 *)_this)->mine>>10)&15)<<10))|(0<<9))|(0<<8))|(3<<5))|(((int)((P0 *)_this)->me)<<3))|((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("word[Worker:cell]", now.word[ Index(((int)((P0 *)_this)->cell), 2) ]);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 182: // STATE 298 - ledger.pml:399 - [holds[me] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][298] = 1;
		(trpt+1)->bup.oval = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 183: // STATE 301 - ledger.pml:401 - [holds[me] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][301] = 1;
		(trpt+1)->bup.oval = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 184: // STATE 307 - ledger.pml:405 - [mine = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][307] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = 0;
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 185: // STATE 308 - ledger.pml:405 - [wrote = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][308] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->wrote);
		((P0 *)_this)->wrote = 0;
#ifdef VAR_RANGES
		logval("Worker:wrote", ((int)((P0 *)_this)->wrote));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 186: // STATE 309 - ledger.pml:405 - [recorded = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][309] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->recorded);
		((P0 *)_this)->recorded = 0;
#ifdef VAR_RANGES
		logval("Worker:recorded", ((int)((P0 *)_this)->recorded));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 187: // STATE 310 - ledger.pml:405 - [sent = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][310] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->sent);
		((P0 *)_this)->sent = 0;
#ifdef VAR_RANGES
		logval("Worker:sent", ((int)((P0 *)_this)->sent));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 188: // STATE 311 - ledger.pml:405 - [cell = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][311] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->cell);
		((P0 *)_this)->cell = 0;
#ifdef VAR_RANGES
		logval("Worker:cell", ((int)((P0 *)_this)->cell));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 189: // STATE 312 - ledger.pml:405 - [epoch = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][312] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->epoch);
		((P0 *)_this)->epoch = 0;
#ifdef VAR_RANGES
		logval("Worker:epoch", ((int)((P0 *)_this)->epoch));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 190: // STATE 313 - ledger.pml:405 - [got = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][313] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = 0;
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 191: // STATE 317 - ledger.pml:420 - [(got)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][317] = 1;
		if (!(((int)((P0 *)_this)->got)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 192: // STATE 319 - ledger.pml:340 - [(recorded)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][319] = 1;
		if (!(((int)((P0 *)_this)->recorded)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 193: // STATE 320 - ledger.pml:284 - [mine = word[cell]] (0:0:1 - 1)
		IfNotBlocked
		reached[0][320] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 194: // STATE 321 - ledger.pml:285 - [got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][321] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = (((((((P0 *)_this)->mine>>5)&7)==2)&&(((((P0 *)_this)->mine>>3)&3)==((int)((P0 *)_this)->me)))&&((0==6)||(((((P0 *)_this)->mine>>14)==((int)((P0 *)_this)->epoch))&&((((P0 *)_this)->mine&7)==((int)((P0 *)_this)->stamp)))));
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 195: // STATE 322 - ledger.pml:287 - [assert(got)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][322] = 1;
		spin_assert(((int)((P0 *)_this)->got), "got", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 196: // STATE 325 - ledger.pml:343 - [((got&&((((mine>>9)&1)&&(((mine>>10)&15)>0))||(0==4))))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][325] = 1;
		if (!((((int)((P0 *)_this)->got)&&((((((P0 *)_this)->mine>>9)&1)&&(((((P0 *)_this)->mine>>10)&15)>0))||(0==4)))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 197: // STATE 326 - ledger.pml:346 - [(((word[cell]==mine)||(0==6)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][326] = 1;
		if (!(((now.word[ Index(((int)((P0 *)_this)->cell), 2) ]==((P0 *)_this)->mine)||(0==6))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 198: // STATE 327 - ledger.pml:347 - [word[cell] = ((((((((mine>>14)<<14)|((((mine>>10)&15)-1)<<10))|(0<<9))|(((mine>>8)&1)<<8))|(2<<5))|(me<<3))|stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][327] = 1;
		(trpt+1)->bup.oval = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
		now.word[ Index(((P0 *)_this)->cell, 2) ] = ((((((((((P0 *)_this)->mine>>14)<<14)|((((((P0 *)_this)->mine>>10)&15)-1)<<10))|(0<<9))|(((((P0 *)_this)->mine>>8)&1)<<8))|(2<<5))|(((int)((P0 *)_this)->me)<<3))|((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("word[Worker:cell]", now.word[ Index(((int)((P0 *)_this)->cell), 2) ]);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 199: // STATE 328 - ledger.pml:348 - [given_back = (given_back+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][328] = 1;
		(trpt+1)->bup.oval = ((int)now.given_back);
		now.given_back = (((int)now.given_back)+1);
#ifdef VAR_RANGES
		logval("given_back", ((int)now.given_back));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 200: // STATE 329 - ledger.pml:349 - [assert((given_back<=charged))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][329] = 1;
		spin_assert((((int)now.given_back)<=((int)now.charged)), "(given_back<=charged)", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 201: // STATE 330 - ledger.pml:98 - [assert((((word[cell]>>10)&15)==(charged-given_back)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][330] = 1;
		spin_assert((((now.word[ Index(((int)((P0 *)_this)->cell), 2) ]>>10)&15)==(((int)now.charged)-((int)now.given_back))), "(((word[cell]>>10)&15)==(charged-given_back))", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 202: // STATE 331 - ledger.pml:99 - [assert((((word[cell]>>10)&15)>=(written-unrecorded)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][331] = 1;
		spin_assert((((now.word[ Index(((int)((P0 *)_this)->cell), 2) ]>>10)&15)>=(((int)now.written)-((int)now.unrecorded))), "(((word[cell]>>10)&15)>=(written-unrecorded))", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 203: // STATE 332 - ledger.pml:100 - [assert(((charged-given_back)<=2))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][332] = 1;
		spin_assert(((((int)now.charged)-((int)now.given_back))<=2), "((charged-given_back)<=2)", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 204: // STATE 342 - ledger.pml:356 - [unrecorded = (unrecorded-1)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][342] = 1;
		(trpt+1)->bup.oval = ((int)now.unrecorded);
		now.unrecorded = (((int)now.unrecorded)-1);
#ifdef VAR_RANGES
		logval("unrecorded", ((int)now.unrecorded));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 205: // STATE 343 - ledger.pml:356 - [sent = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][343] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->sent);
		((P0 *)_this)->sent = 0;
#ifdef VAR_RANGES
		logval("Worker:sent", ((int)((P0 *)_this)->sent));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 206: // STATE 346 - ledger.pml:358 - [mine = 0] (0:0:1 - 5)
		IfNotBlocked
		reached[0][346] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = 0;
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 207: // STATE 349 - ledger.pml:425 - [(recorded)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][349] = 1;
		if (!(((int)((P0 *)_this)->recorded)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 208: // STATE 350 - ledger.pml:340 - [(recorded)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][350] = 1;
		if (!(((int)((P0 *)_this)->recorded)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 209: // STATE 351 - ledger.pml:284 - [mine = word[cell]] (0:0:1 - 1)
		IfNotBlocked
		reached[0][351] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 210: // STATE 352 - ledger.pml:285 - [got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][352] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = (((((((P0 *)_this)->mine>>5)&7)==2)&&(((((P0 *)_this)->mine>>3)&3)==((int)((P0 *)_this)->me)))&&((0==6)||(((((P0 *)_this)->mine>>14)==((int)((P0 *)_this)->epoch))&&((((P0 *)_this)->mine&7)==((int)((P0 *)_this)->stamp)))));
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 211: // STATE 353 - ledger.pml:287 - [assert(got)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][353] = 1;
		spin_assert(((int)((P0 *)_this)->got), "got", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 212: // STATE 356 - ledger.pml:343 - [((got&&((((mine>>9)&1)&&(((mine>>10)&15)>0))||(0==4))))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][356] = 1;
		if (!((((int)((P0 *)_this)->got)&&((((((P0 *)_this)->mine>>9)&1)&&(((((P0 *)_this)->mine>>10)&15)>0))||(0==4)))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 213: // STATE 357 - ledger.pml:346 - [(((word[cell]==mine)||(0==6)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][357] = 1;
		if (!(((now.word[ Index(((int)((P0 *)_this)->cell), 2) ]==((P0 *)_this)->mine)||(0==6))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 214: // STATE 358 - ledger.pml:347 - [word[cell] = ((((((((mine>>14)<<14)|((((mine>>10)&15)-1)<<10))|(0<<9))|(((mine>>8)&1)<<8))|(2<<5))|(me<<3))|stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][358] = 1;
		(trpt+1)->bup.oval = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
		now.word[ Index(((P0 *)_this)->cell, 2) ] = ((((((((((P0 *)_this)->mine>>14)<<14)|((((((P0 *)_this)->mine>>10)&15)-1)<<10))|(0<<9))|(((((P0 *)_this)->mine>>8)&1)<<8))|(2<<5))|(((int)((P0 *)_this)->me)<<3))|((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("word[Worker:cell]", now.word[ Index(((int)((P0 *)_this)->cell), 2) ]);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 215: // STATE 359 - ledger.pml:348 - [given_back = (given_back+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][359] = 1;
		(trpt+1)->bup.oval = ((int)now.given_back);
		now.given_back = (((int)now.given_back)+1);
#ifdef VAR_RANGES
		logval("given_back", ((int)now.given_back));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 216: // STATE 360 - ledger.pml:349 - [assert((given_back<=charged))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][360] = 1;
		spin_assert((((int)now.given_back)<=((int)now.charged)), "(given_back<=charged)", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 217: // STATE 361 - ledger.pml:98 - [assert((((word[cell]>>10)&15)==(charged-given_back)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][361] = 1;
		spin_assert((((now.word[ Index(((int)((P0 *)_this)->cell), 2) ]>>10)&15)==(((int)now.charged)-((int)now.given_back))), "(((word[cell]>>10)&15)==(charged-given_back))", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 218: // STATE 362 - ledger.pml:99 - [assert((((word[cell]>>10)&15)>=(written-unrecorded)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][362] = 1;
		spin_assert((((now.word[ Index(((int)((P0 *)_this)->cell), 2) ]>>10)&15)>=(((int)now.written)-((int)now.unrecorded))), "(((word[cell]>>10)&15)>=(written-unrecorded))", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 219: // STATE 363 - ledger.pml:100 - [assert(((charged-given_back)<=2))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][363] = 1;
		spin_assert(((((int)now.charged)-((int)now.given_back))<=2), "((charged-given_back)<=2)", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 220: // STATE 373 - ledger.pml:356 - [unrecorded = (unrecorded-1)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][373] = 1;
		(trpt+1)->bup.oval = ((int)now.unrecorded);
		now.unrecorded = (((int)now.unrecorded)-1);
#ifdef VAR_RANGES
		logval("unrecorded", ((int)now.unrecorded));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 221: // STATE 374 - ledger.pml:356 - [sent = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][374] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->sent);
		((P0 *)_this)->sent = 0;
#ifdef VAR_RANGES
		logval("Worker:sent", ((int)((P0 *)_this)->sent));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 222: // STATE 377 - ledger.pml:358 - [mine = 0] (0:0:1 - 5)
		IfNotBlocked
		reached[0][377] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = 0;
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 223: // STATE 380 - ledger.pml:381 - [(recorded)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][380] = 1;
		if (!(((int)((P0 *)_this)->recorded)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 224: // STATE 381 - ledger.pml:284 - [mine = word[cell]] (0:0:1 - 1)
		IfNotBlocked
		reached[0][381] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 225: // STATE 382 - ledger.pml:285 - [got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][382] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = (((((((P0 *)_this)->mine>>5)&7)==2)&&(((((P0 *)_this)->mine>>3)&3)==((int)((P0 *)_this)->me)))&&((0==6)||(((((P0 *)_this)->mine>>14)==((int)((P0 *)_this)->epoch))&&((((P0 *)_this)->mine&7)==((int)((P0 *)_this)->stamp)))));
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 226: // STATE 383 - ledger.pml:287 - [assert(got)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][383] = 1;
		spin_assert(((int)((P0 *)_this)->got), "got", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 227: // STATE 386 - ledger.pml:384 - [((got&&(((mine>>10)&15)==0)))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][386] = 1;
		if (!((((int)((P0 *)_this)->got)&&(((((P0 *)_this)->mine>>10)&15)==0))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: got */  (trpt+1)->bup.oval = ((P0 *)_this)->got;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->got = 0;
		_m = 3; goto P999; /* 0 */
	case 228: // STATE 387 - ledger.pml:385 - [tag[cell] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][387] = 1;
		(trpt+1)->bup.oval = ((int)now.tag[ Index(((int)((P0 *)_this)->cell), 2) ]);
		now.tag[ Index(((P0 *)_this)->cell, 2) ] = 0;
#ifdef VAR_RANGES
		logval("tag[Worker:cell]", ((int)now.tag[ Index(((int)((P0 *)_this)->cell), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 229: // STATE 388 - ledger.pml:388 - [((word[cell]==mine))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][388] = 1;
		if (!((now.word[ Index(((int)((P0 *)_this)->cell), 2) ]==((P0 *)_this)->mine)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 230: // STATE 389 - ledger.pml:388 - [word[cell] = ((((((((mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(0<<5))|(me<<3))|stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][389] = 1;
		(trpt+1)->bup.oval = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
		now.word[ Index(((P0 *)_this)->cell, 2) ] = ((((((((((P0 *)_this)->mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(0<<5))|(((int)((P0 *)_this)->me)<<3))|((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("word[Worker:cell]", now.word[ Index(((int)((P0 *)_this)->cell), 2) ]);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 231: // STATE 393 - ledger.pml:391 - [holds[me] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][393] = 1;
		(trpt+1)->bup.oval = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 232: // STATE 395 - ledger.pml:393 - [((got&&(((mine>>10)&15)>0)))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][395] = 1;
		if (!((((int)((P0 *)_this)->got)&&(((((P0 *)_this)->mine>>10)&15)>0))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: got */  (trpt+1)->bup.oval = ((P0 *)_this)->got;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->got = 0;
		_m = 3; goto P999; /* 0 */
	case 233: // STATE 396 - ledger.pml:396 - [((word[cell]==mine))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][396] = 1;
		if (!((now.word[ Index(((int)((P0 *)_this)->cell), 2) ]==((P0 *)_this)->mine)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 234: // STATE 397 - ledger.pml:396 - [word[cell] = ((((((((mine>>14)<<14)|(((mine>>10)&15)<<10))|(0<<9))|(0<<8))|(3<<5))|(me<<3))|stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][397] = 1;
		(trpt+1)->bup.oval = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
		now.word[ Index(((P0 *)_this)->cell, 2) ] = ((((((((((P0 *)_this)->mine>>14)<<14)|(((((P0 *)_this)->mine>>10)&15)<<10))|(0<<9))|(0<<8))|(3<<5))|(((int)((P0 *)_this)->me)<<3))|((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("word[Worker:cell]", now.word[ Index(((int)((P0 *)_this)->cell), 2) ]);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 235: // STATE 401 - ledger.pml:399 - [holds[me] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][401] = 1;
		(trpt+1)->bup.oval = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 236: // STATE 404 - ledger.pml:401 - [holds[me] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][404] = 1;
		(trpt+1)->bup.oval = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 237: // STATE 410 - ledger.pml:405 - [mine = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][410] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = 0;
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 238: // STATE 411 - ledger.pml:405 - [wrote = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][411] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->wrote);
		((P0 *)_this)->wrote = 0;
#ifdef VAR_RANGES
		logval("Worker:wrote", ((int)((P0 *)_this)->wrote));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 239: // STATE 412 - ledger.pml:405 - [recorded = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][412] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->recorded);
		((P0 *)_this)->recorded = 0;
#ifdef VAR_RANGES
		logval("Worker:recorded", ((int)((P0 *)_this)->recorded));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 240: // STATE 413 - ledger.pml:405 - [sent = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][413] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->sent);
		((P0 *)_this)->sent = 0;
#ifdef VAR_RANGES
		logval("Worker:sent", ((int)((P0 *)_this)->sent));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 241: // STATE 414 - ledger.pml:405 - [cell = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][414] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->cell);
		((P0 *)_this)->cell = 0;
#ifdef VAR_RANGES
		logval("Worker:cell", ((int)((P0 *)_this)->cell));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 242: // STATE 415 - ledger.pml:405 - [epoch = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][415] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->epoch);
		((P0 *)_this)->epoch = 0;
#ifdef VAR_RANGES
		logval("Worker:epoch", ((int)((P0 *)_this)->epoch));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 243: // STATE 416 - ledger.pml:405 - [got = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][416] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = 0;
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 244: // STATE 423 - ledger.pml:328 - [written = (written+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][423] = 1;
		(trpt+1)->bup.oval = ((int)now.written);
		now.written = (((int)now.written)+1);
#ifdef VAR_RANGES
		logval("written", ((int)now.written));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 245: // STATE 424 - ledger.pml:329 - [wrote = 1] (0:0:1 - 1)
		IfNotBlocked
		reached[0][424] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->wrote);
		((P0 *)_this)->wrote = 1;
#ifdef VAR_RANGES
		logval("Worker:wrote", ((int)((P0 *)_this)->wrote));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 246: // STATE 425 - ledger.pml:330 - [assert((written<=(2+unrecorded)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][425] = 1;
		spin_assert((((int)now.written)<=(2+((int)now.unrecorded))), "(written<=(2+unrecorded))", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 247: // STATE 426 - ledger.pml:331 - [assert((!(may_have_run)||!(recorded)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][426] = 1;
		spin_assert(( !(((int)now.may_have_run))|| !(((int)((P0 *)_this)->recorded))), "( !(may_have_run)|| !(recorded))", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 248: // STATE 427 - ledger.pml:333 - [assert((!(may_have_run)&&(unrecorded==0)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][427] = 1;
		spin_assert(( !(((int)now.may_have_run))&&(((int)now.unrecorded)==0)), "( !(may_have_run)&&(unrecorded==0))", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 249: // STATE 431 - ledger.pml:364 - [(recorded)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][431] = 1;
		if (!(((int)((P0 *)_this)->recorded)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 250: // STATE 432 - ledger.pml:284 - [mine = word[cell]] (0:0:1 - 1)
		IfNotBlocked
		reached[0][432] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 251: // STATE 433 - ledger.pml:285 - [got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][433] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = (((((((P0 *)_this)->mine>>5)&7)==2)&&(((((P0 *)_this)->mine>>3)&3)==((int)((P0 *)_this)->me)))&&((0==6)||(((((P0 *)_this)->mine>>14)==((int)((P0 *)_this)->epoch))&&((((P0 *)_this)->mine&7)==((int)((P0 *)_this)->stamp)))));
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 252: // STATE 434 - ledger.pml:287 - [assert(got)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][434] = 1;
		spin_assert(((int)((P0 *)_this)->got), "got", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 253: // STATE 437 - ledger.pml:368 - [((got&&(word[cell]==mine)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][437] = 1;
		if (!((((int)((P0 *)_this)->got)&&(now.word[ Index(((int)((P0 *)_this)->cell), 2) ]==((P0 *)_this)->mine))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 254: // STATE 438 - ledger.pml:368 - [word[cell] = ((((((((mine>>14)<<14)|(((mine>>10)&15)<<10))|(0<<9))|(0<<8))|(2<<5))|(me<<3))|stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][438] = 1;
		(trpt+1)->bup.oval = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
		now.word[ Index(((P0 *)_this)->cell, 2) ] = ((((((((((P0 *)_this)->mine>>14)<<14)|(((((P0 *)_this)->mine>>10)&15)<<10))|(0<<9))|(0<<8))|(2<<5))|(((int)((P0 *)_this)->me)<<3))|((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("word[Worker:cell]", now.word[ Index(((int)((P0 *)_this)->cell), 2) ]);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 255: // STATE 442 - ledger.pml:371 - [wrote = 0] (0:0:1 - 3)
		IfNotBlocked
		reached[0][442] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->wrote);
		((P0 *)_this)->wrote = 0;
#ifdef VAR_RANGES
		logval("Worker:wrote", ((int)((P0 *)_this)->wrote));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 256: // STATE 443 - ledger.pml:372 - [mine = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][443] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = 0;
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 257: // STATE 446 - ledger.pml:374 - [wrote = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][446] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->wrote);
		((P0 *)_this)->wrote = 0;
#ifdef VAR_RANGES
		logval("Worker:wrote", ((int)((P0 *)_this)->wrote));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 258: // STATE 451 - ledger.pml:364 - [(recorded)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][451] = 1;
		if (!(((int)((P0 *)_this)->recorded)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 259: // STATE 452 - ledger.pml:284 - [mine = word[cell]] (0:0:1 - 1)
		IfNotBlocked
		reached[0][452] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 260: // STATE 453 - ledger.pml:285 - [got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][453] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = (((((((P0 *)_this)->mine>>5)&7)==2)&&(((((P0 *)_this)->mine>>3)&3)==((int)((P0 *)_this)->me)))&&((0==6)||(((((P0 *)_this)->mine>>14)==((int)((P0 *)_this)->epoch))&&((((P0 *)_this)->mine&7)==((int)((P0 *)_this)->stamp)))));
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 261: // STATE 454 - ledger.pml:287 - [assert(got)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][454] = 1;
		spin_assert(((int)((P0 *)_this)->got), "got", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 262: // STATE 457 - ledger.pml:368 - [((got&&(word[cell]==mine)))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][457] = 1;
		if (!((((int)((P0 *)_this)->got)&&(now.word[ Index(((int)((P0 *)_this)->cell), 2) ]==((P0 *)_this)->mine))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: got */  (trpt+1)->bup.oval = ((P0 *)_this)->got;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->got = 0;
		_m = 3; goto P999; /* 0 */
	case 263: // STATE 458 - ledger.pml:368 - [word[cell] = ((((((((mine>>14)<<14)|(((mine>>10)&15)<<10))|(0<<9))|(0<<8))|(2<<5))|(me<<3))|stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][458] = 1;
		(trpt+1)->bup.oval = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
		now.word[ Index(((P0 *)_this)->cell, 2) ] = ((((((((((P0 *)_this)->mine>>14)<<14)|(((((P0 *)_this)->mine>>10)&15)<<10))|(0<<9))|(0<<8))|(2<<5))|(((int)((P0 *)_this)->me)<<3))|((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("word[Worker:cell]", now.word[ Index(((int)((P0 *)_this)->cell), 2) ]);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 264: // STATE 462 - ledger.pml:371 - [wrote = 0] (0:0:1 - 3)
		IfNotBlocked
		reached[0][462] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->wrote);
		((P0 *)_this)->wrote = 0;
#ifdef VAR_RANGES
		logval("Worker:wrote", ((int)((P0 *)_this)->wrote));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 265: // STATE 463 - ledger.pml:372 - [mine = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][463] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = 0;
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 266: // STATE 466 - ledger.pml:374 - [wrote = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][466] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->wrote);
		((P0 *)_this)->wrote = 0;
#ifdef VAR_RANGES
		logval("Worker:wrote", ((int)((P0 *)_this)->wrote));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 267: // STATE 470 - ledger.pml:381 - [(recorded)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][470] = 1;
		if (!(((int)((P0 *)_this)->recorded)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 268: // STATE 471 - ledger.pml:284 - [mine = word[cell]] (0:0:1 - 1)
		IfNotBlocked
		reached[0][471] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 269: // STATE 472 - ledger.pml:285 - [got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][472] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = (((((((P0 *)_this)->mine>>5)&7)==2)&&(((((P0 *)_this)->mine>>3)&3)==((int)((P0 *)_this)->me)))&&((0==6)||(((((P0 *)_this)->mine>>14)==((int)((P0 *)_this)->epoch))&&((((P0 *)_this)->mine&7)==((int)((P0 *)_this)->stamp)))));
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 270: // STATE 473 - ledger.pml:287 - [assert(got)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][473] = 1;
		spin_assert(((int)((P0 *)_this)->got), "got", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 271: // STATE 476 - ledger.pml:384 - [((got&&(((mine>>10)&15)==0)))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][476] = 1;
		if (!((((int)((P0 *)_this)->got)&&(((((P0 *)_this)->mine>>10)&15)==0))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: got */  (trpt+1)->bup.oval = ((P0 *)_this)->got;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->got = 0;
		_m = 3; goto P999; /* 0 */
	case 272: // STATE 477 - ledger.pml:385 - [tag[cell] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][477] = 1;
		(trpt+1)->bup.oval = ((int)now.tag[ Index(((int)((P0 *)_this)->cell), 2) ]);
		now.tag[ Index(((P0 *)_this)->cell, 2) ] = 0;
#ifdef VAR_RANGES
		logval("tag[Worker:cell]", ((int)now.tag[ Index(((int)((P0 *)_this)->cell), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 273: // STATE 478 - ledger.pml:388 - [((word[cell]==mine))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][478] = 1;
		if (!((now.word[ Index(((int)((P0 *)_this)->cell), 2) ]==((P0 *)_this)->mine)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 274: // STATE 479 - ledger.pml:388 - [word[cell] = ((((((((mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(0<<5))|(me<<3))|stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][479] = 1;
		(trpt+1)->bup.oval = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
		now.word[ Index(((P0 *)_this)->cell, 2) ] = ((((((((((P0 *)_this)->mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(0<<5))|(((int)((P0 *)_this)->me)<<3))|((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("word[Worker:cell]", now.word[ Index(((int)((P0 *)_this)->cell), 2) ]);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 275: // STATE 483 - ledger.pml:391 - [holds[me] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][483] = 1;
		(trpt+1)->bup.oval = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 276: // STATE 485 - ledger.pml:393 - [((got&&(((mine>>10)&15)>0)))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][485] = 1;
		if (!((((int)((P0 *)_this)->got)&&(((((P0 *)_this)->mine>>10)&15)>0))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: got */  (trpt+1)->bup.oval = ((P0 *)_this)->got;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->got = 0;
		_m = 3; goto P999; /* 0 */
	case 277: // STATE 486 - ledger.pml:396 - [((word[cell]==mine))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][486] = 1;
		if (!((now.word[ Index(((int)((P0 *)_this)->cell), 2) ]==((P0 *)_this)->mine)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 278: // STATE 487 - ledger.pml:396 - [word[cell] = ((((((((mine>>14)<<14)|(((mine>>10)&15)<<10))|(0<<9))|(0<<8))|(3<<5))|(me<<3))|stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][487] = 1;
		(trpt+1)->bup.oval = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
		now.word[ Index(((P0 *)_this)->cell, 2) ] = ((((((((((P0 *)_this)->mine>>14)<<14)|(((((P0 *)_this)->mine>>10)&15)<<10))|(0<<9))|(0<<8))|(3<<5))|(((int)((P0 *)_this)->me)<<3))|((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("word[Worker:cell]", now.word[ Index(((int)((P0 *)_this)->cell), 2) ]);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 279: // STATE 491 - ledger.pml:399 - [holds[me] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][491] = 1;
		(trpt+1)->bup.oval = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 280: // STATE 494 - ledger.pml:401 - [holds[me] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][494] = 1;
		(trpt+1)->bup.oval = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 281: // STATE 500 - ledger.pml:405 - [mine = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][500] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = 0;
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 282: // STATE 501 - ledger.pml:405 - [wrote = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][501] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->wrote);
		((P0 *)_this)->wrote = 0;
#ifdef VAR_RANGES
		logval("Worker:wrote", ((int)((P0 *)_this)->wrote));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 283: // STATE 502 - ledger.pml:405 - [recorded = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][502] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->recorded);
		((P0 *)_this)->recorded = 0;
#ifdef VAR_RANGES
		logval("Worker:recorded", ((int)((P0 *)_this)->recorded));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 284: // STATE 503 - ledger.pml:405 - [sent = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][503] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->sent);
		((P0 *)_this)->sent = 0;
#ifdef VAR_RANGES
		logval("Worker:sent", ((int)((P0 *)_this)->sent));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 285: // STATE 504 - ledger.pml:405 - [cell = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][504] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->cell);
		((P0 *)_this)->cell = 0;
#ifdef VAR_RANGES
		logval("Worker:cell", ((int)((P0 *)_this)->cell));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 286: // STATE 505 - ledger.pml:405 - [epoch = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][505] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->epoch);
		((P0 *)_this)->epoch = 0;
#ifdef VAR_RANGES
		logval("Worker:epoch", ((int)((P0 *)_this)->epoch));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 287: // STATE 506 - ledger.pml:405 - [got = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][506] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = 0;
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 288: // STATE 511 - ledger.pml:381 - [(recorded)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][511] = 1;
		if (!(((int)((P0 *)_this)->recorded)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 289: // STATE 512 - ledger.pml:284 - [mine = word[cell]] (0:0:1 - 1)
		IfNotBlocked
		reached[0][512] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 290: // STATE 513 - ledger.pml:285 - [got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][513] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = (((((((P0 *)_this)->mine>>5)&7)==2)&&(((((P0 *)_this)->mine>>3)&3)==((int)((P0 *)_this)->me)))&&((0==6)||(((((P0 *)_this)->mine>>14)==((int)((P0 *)_this)->epoch))&&((((P0 *)_this)->mine&7)==((int)((P0 *)_this)->stamp)))));
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 291: // STATE 514 - ledger.pml:287 - [assert(got)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][514] = 1;
		spin_assert(((int)((P0 *)_this)->got), "got", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 292: // STATE 517 - ledger.pml:384 - [((got&&(((mine>>10)&15)==0)))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][517] = 1;
		if (!((((int)((P0 *)_this)->got)&&(((((P0 *)_this)->mine>>10)&15)==0))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: got */  (trpt+1)->bup.oval = ((P0 *)_this)->got;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->got = 0;
		_m = 3; goto P999; /* 0 */
	case 293: // STATE 518 - ledger.pml:385 - [tag[cell] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][518] = 1;
		(trpt+1)->bup.oval = ((int)now.tag[ Index(((int)((P0 *)_this)->cell), 2) ]);
		now.tag[ Index(((P0 *)_this)->cell, 2) ] = 0;
#ifdef VAR_RANGES
		logval("tag[Worker:cell]", ((int)now.tag[ Index(((int)((P0 *)_this)->cell), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 294: // STATE 519 - ledger.pml:388 - [((word[cell]==mine))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][519] = 1;
		if (!((now.word[ Index(((int)((P0 *)_this)->cell), 2) ]==((P0 *)_this)->mine)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 295: // STATE 520 - ledger.pml:388 - [word[cell] = ((((((((mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(0<<5))|(me<<3))|stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][520] = 1;
		(trpt+1)->bup.oval = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
		now.word[ Index(((P0 *)_this)->cell, 2) ] = ((((((((((P0 *)_this)->mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(0<<5))|(((int)((P0 *)_this)->me)<<3))|((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("word[Worker:cell]", now.word[ Index(((int)((P0 *)_this)->cell), 2) ]);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 296: // STATE 524 - ledger.pml:391 - [holds[me] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][524] = 1;
		(trpt+1)->bup.oval = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 297: // STATE 526 - ledger.pml:393 - [((got&&(((mine>>10)&15)>0)))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][526] = 1;
		if (!((((int)((P0 *)_this)->got)&&(((((P0 *)_this)->mine>>10)&15)>0))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: got */  (trpt+1)->bup.oval = ((P0 *)_this)->got;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->got = 0;
		_m = 3; goto P999; /* 0 */
	case 298: // STATE 527 - ledger.pml:396 - [((word[cell]==mine))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][527] = 1;
		if (!((now.word[ Index(((int)((P0 *)_this)->cell), 2) ]==((P0 *)_this)->mine)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 299: // STATE 528 - ledger.pml:396 - [word[cell] = ((((((((mine>>14)<<14)|(((mine>>10)&15)<<10))|(0<<9))|(0<<8))|(4<<5))|(me<<3))|stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][528] = 1;
		(trpt+1)->bup.oval = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
		now.word[ Index(((P0 *)_this)->cell, 2) ] = ((((((((((P0 *)_this)->mine>>14)<<14)|(((((P0 *)_this)->mine>>10)&15)<<10))|(0<<9))|(0<<8))|(4<<5))|(((int)((P0 *)_this)->me)<<3))|((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("word[Worker:cell]", now.word[ Index(((int)((P0 *)_this)->cell), 2) ]);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 300: // STATE 532 - ledger.pml:399 - [holds[me] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][532] = 1;
		(trpt+1)->bup.oval = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 301: // STATE 535 - ledger.pml:401 - [holds[me] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][535] = 1;
		(trpt+1)->bup.oval = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 302: // STATE 541 - ledger.pml:405 - [mine = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][541] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = 0;
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 303: // STATE 542 - ledger.pml:405 - [wrote = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][542] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->wrote);
		((P0 *)_this)->wrote = 0;
#ifdef VAR_RANGES
		logval("Worker:wrote", ((int)((P0 *)_this)->wrote));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 304: // STATE 543 - ledger.pml:405 - [recorded = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][543] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->recorded);
		((P0 *)_this)->recorded = 0;
#ifdef VAR_RANGES
		logval("Worker:recorded", ((int)((P0 *)_this)->recorded));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 305: // STATE 544 - ledger.pml:405 - [sent = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][544] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->sent);
		((P0 *)_this)->sent = 0;
#ifdef VAR_RANGES
		logval("Worker:sent", ((int)((P0 *)_this)->sent));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 306: // STATE 545 - ledger.pml:405 - [cell = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][545] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->cell);
		((P0 *)_this)->cell = 0;
#ifdef VAR_RANGES
		logval("Worker:cell", ((int)((P0 *)_this)->cell));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 307: // STATE 546 - ledger.pml:405 - [epoch = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][546] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->epoch);
		((P0 *)_this)->epoch = 0;
#ifdef VAR_RANGES
		logval("Worker:epoch", ((int)((P0 *)_this)->epoch));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 308: // STATE 547 - ledger.pml:405 - [got = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][547] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = 0;
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 309: // STATE 552 - ledger.pml:364 - [(recorded)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][552] = 1;
		if (!(((int)((P0 *)_this)->recorded)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 310: // STATE 553 - ledger.pml:284 - [mine = word[cell]] (0:0:1 - 1)
		IfNotBlocked
		reached[0][553] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 311: // STATE 554 - ledger.pml:285 - [got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][554] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = (((((((P0 *)_this)->mine>>5)&7)==2)&&(((((P0 *)_this)->mine>>3)&3)==((int)((P0 *)_this)->me)))&&((0==6)||(((((P0 *)_this)->mine>>14)==((int)((P0 *)_this)->epoch))&&((((P0 *)_this)->mine&7)==((int)((P0 *)_this)->stamp)))));
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 312: // STATE 555 - ledger.pml:287 - [assert(got)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][555] = 1;
		spin_assert(((int)((P0 *)_this)->got), "got", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 313: // STATE 558 - ledger.pml:368 - [((got&&(word[cell]==mine)))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][558] = 1;
		if (!((((int)((P0 *)_this)->got)&&(now.word[ Index(((int)((P0 *)_this)->cell), 2) ]==((P0 *)_this)->mine))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: got */  (trpt+1)->bup.oval = ((P0 *)_this)->got;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->got = 0;
		_m = 3; goto P999; /* 0 */
	case 314: // STATE 559 - ledger.pml:368 - [word[cell] = ((((((((mine>>14)<<14)|(((mine>>10)&15)<<10))|(((mine>>9)&1)<<9))|(1<<8))|(2<<5))|(me<<3))|stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][559] = 1;
		(trpt+1)->bup.oval = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
		now.word[ Index(((P0 *)_this)->cell, 2) ] = ((((((((((P0 *)_this)->mine>>14)<<14)|(((((P0 *)_this)->mine>>10)&15)<<10))|(((((P0 *)_this)->mine>>9)&1)<<9))|(1<<8))|(2<<5))|(((int)((P0 *)_this)->me)<<3))|((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("word[Worker:cell]", now.word[ Index(((int)((P0 *)_this)->cell), 2) ]);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 315: // STATE 563 - ledger.pml:371 - [wrote = 0] (0:0:1 - 3)
		IfNotBlocked
		reached[0][563] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->wrote);
		((P0 *)_this)->wrote = 0;
#ifdef VAR_RANGES
		logval("Worker:wrote", ((int)((P0 *)_this)->wrote));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 316: // STATE 564 - ledger.pml:372 - [mine = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][564] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = 0;
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 317: // STATE 567 - ledger.pml:374 - [wrote = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][567] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->wrote);
		((P0 *)_this)->wrote = 0;
#ifdef VAR_RANGES
		logval("Worker:wrote", ((int)((P0 *)_this)->wrote));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 318: // STATE 571 - ledger.pml:381 - [(recorded)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][571] = 1;
		if (!(((int)((P0 *)_this)->recorded)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 319: // STATE 572 - ledger.pml:284 - [mine = word[cell]] (0:0:1 - 1)
		IfNotBlocked
		reached[0][572] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 320: // STATE 573 - ledger.pml:285 - [got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][573] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = (((((((P0 *)_this)->mine>>5)&7)==2)&&(((((P0 *)_this)->mine>>3)&3)==((int)((P0 *)_this)->me)))&&((0==6)||(((((P0 *)_this)->mine>>14)==((int)((P0 *)_this)->epoch))&&((((P0 *)_this)->mine&7)==((int)((P0 *)_this)->stamp)))));
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 321: // STATE 574 - ledger.pml:287 - [assert(got)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][574] = 1;
		spin_assert(((int)((P0 *)_this)->got), "got", II, tt, t);
		_m = 3; goto P999; /* 0 */
	case 322: // STATE 577 - ledger.pml:384 - [((got&&(((mine>>10)&15)==0)))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][577] = 1;
		if (!((((int)((P0 *)_this)->got)&&(((((P0 *)_this)->mine>>10)&15)==0))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: got */  (trpt+1)->bup.oval = ((P0 *)_this)->got;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->got = 0;
		_m = 3; goto P999; /* 0 */
	case 323: // STATE 578 - ledger.pml:385 - [tag[cell] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][578] = 1;
		(trpt+1)->bup.oval = ((int)now.tag[ Index(((int)((P0 *)_this)->cell), 2) ]);
		now.tag[ Index(((P0 *)_this)->cell, 2) ] = 0;
#ifdef VAR_RANGES
		logval("tag[Worker:cell]", ((int)now.tag[ Index(((int)((P0 *)_this)->cell), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 324: // STATE 579 - ledger.pml:388 - [((word[cell]==mine))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][579] = 1;
		if (!((now.word[ Index(((int)((P0 *)_this)->cell), 2) ]==((P0 *)_this)->mine)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 325: // STATE 580 - ledger.pml:388 - [word[cell] = ((((((((mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(0<<5))|(me<<3))|stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][580] = 1;
		(trpt+1)->bup.oval = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
		now.word[ Index(((P0 *)_this)->cell, 2) ] = ((((((((((P0 *)_this)->mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(0<<5))|(((int)((P0 *)_this)->me)<<3))|((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("word[Worker:cell]", now.word[ Index(((int)((P0 *)_this)->cell), 2) ]);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 326: // STATE 584 - ledger.pml:391 - [holds[me] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][584] = 1;
		(trpt+1)->bup.oval = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 327: // STATE 586 - ledger.pml:393 - [((got&&(((mine>>10)&15)>0)))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][586] = 1;
		if (!((((int)((P0 *)_this)->got)&&(((((P0 *)_this)->mine>>10)&15)>0))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: got */  (trpt+1)->bup.oval = ((P0 *)_this)->got;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->got = 0;
		_m = 3; goto P999; /* 0 */
	case 328: // STATE 587 - ledger.pml:396 - [((word[cell]==mine))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][587] = 1;
		if (!((now.word[ Index(((int)((P0 *)_this)->cell), 2) ]==((P0 *)_this)->mine)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 329: // STATE 588 - ledger.pml:396 - [word[cell] = ((((((((mine>>14)<<14)|(((mine>>10)&15)<<10))|(0<<9))|(0<<8))|(3<<5))|(me<<3))|stamp)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][588] = 1;
		(trpt+1)->bup.oval = now.word[ Index(((int)((P0 *)_this)->cell), 2) ];
		now.word[ Index(((P0 *)_this)->cell, 2) ] = ((((((((((P0 *)_this)->mine>>14)<<14)|(((((P0 *)_this)->mine>>10)&15)<<10))|(0<<9))|(0<<8))|(3<<5))|(((int)((P0 *)_this)->me)<<3))|((int)((P0 *)_this)->stamp));
#ifdef VAR_RANGES
		logval("word[Worker:cell]", now.word[ Index(((int)((P0 *)_this)->cell), 2) ]);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 330: // STATE 592 - ledger.pml:399 - [holds[me] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][592] = 1;
		(trpt+1)->bup.oval = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 331: // STATE 595 - ledger.pml:401 - [holds[me] = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][595] = 1;
		(trpt+1)->bup.oval = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 332: // STATE 601 - ledger.pml:405 - [mine = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][601] = 1;
		(trpt+1)->bup.oval = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = 0;
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 333: // STATE 602 - ledger.pml:405 - [wrote = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][602] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->wrote);
		((P0 *)_this)->wrote = 0;
#ifdef VAR_RANGES
		logval("Worker:wrote", ((int)((P0 *)_this)->wrote));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 334: // STATE 603 - ledger.pml:405 - [recorded = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][603] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->recorded);
		((P0 *)_this)->recorded = 0;
#ifdef VAR_RANGES
		logval("Worker:recorded", ((int)((P0 *)_this)->recorded));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 335: // STATE 604 - ledger.pml:405 - [sent = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][604] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->sent);
		((P0 *)_this)->sent = 0;
#ifdef VAR_RANGES
		logval("Worker:sent", ((int)((P0 *)_this)->sent));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 336: // STATE 605 - ledger.pml:405 - [cell = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][605] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->cell);
		((P0 *)_this)->cell = 0;
#ifdef VAR_RANGES
		logval("Worker:cell", ((int)((P0 *)_this)->cell));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 337: // STATE 606 - ledger.pml:405 - [epoch = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][606] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->epoch);
		((P0 *)_this)->epoch = 0;
#ifdef VAR_RANGES
		logval("Worker:epoch", ((int)((P0 *)_this)->epoch));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 338: // STATE 607 - ledger.pml:405 - [got = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][607] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = 0;
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 339: // STATE 621 - ledger.pml:438 - [cell = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][621] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->cell);
		((P0 *)_this)->cell = 0;
#ifdef VAR_RANGES
		logval("Worker:cell", ((int)((P0 *)_this)->cell));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 340: // STATE 622 - ledger.pml:438 - [epoch = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][622] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->epoch);
		((P0 *)_this)->epoch = 0;
#ifdef VAR_RANGES
		logval("Worker:epoch", ((int)((P0 *)_this)->epoch));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 341: // STATE 626 - ledger.pml:454 - [((turns_left==0))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][626] = 1;
		if (!((((int)now.turns_left)==0)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 342: // STATE 631 - ledger.pml:456 - [done = (done+1)] (0:0:1 - 3)
		IfNotBlocked
		reached[0][631] = 1;
		(trpt+1)->bup.oval = ((int)now.done);
		now.done = (((int)now.done)+1);
#ifdef VAR_RANGES
		logval("done", ((int)now.done));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 343: // STATE 637 - ledger.pml:462 - [((wrote&&recorded))] (667:0:24 - 1)
		IfNotBlocked
		reached[0][637] = 1;
		if (!((((int)((P0 *)_this)->wrote)&&((int)((P0 *)_this)->recorded))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: wrote */  (trpt+1)->bup.ovals = grab_ints(24);
		(trpt+1)->bup.ovals[0] = ((P0 *)_this)->wrote;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->wrote = 0;
		if (TstOnly) return 1; /* TT */
		/* dead 1: recorded */  (trpt+1)->bup.ovals[1] = ((P0 *)_this)->recorded;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->recorded = 0;
		/* merge: may_have_run = 1(667, 638, 667) */
		reached[0][638] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.may_have_run);
		now.may_have_run = 1;
#ifdef VAR_RANGES
		logval("may_have_run", ((int)now.may_have_run));
#endif
		;
		/* merge: .(goto)(667, 641, 667) */
		reached[0][641] = 1;
		;
		/* merge: epoch = 0(667, 642, 667) */
		reached[0][642] = 1;
		(trpt+1)->bup.ovals[3] = ((int)((P0 *)_this)->epoch);
		((P0 *)_this)->epoch = 0;
#ifdef VAR_RANGES
		logval("Worker:epoch", ((int)((P0 *)_this)->epoch));
#endif
		;
		/* merge: i = 0(667, 643, 667) */
		reached[0][643] = 1;
		(trpt+1)->bup.ovals[4] = ((int)((P0 *)_this)->i);
		((P0 *)_this)->i = 0;
#ifdef VAR_RANGES
		logval("Worker:i", ((int)((P0 *)_this)->i));
#endif
		;
		/* merge: noted = 0(667, 644, 667) */
		reached[0][644] = 1;
		(trpt+1)->bup.ovals[5] = ((int)((P0 *)_this)->noted);
		((P0 *)_this)->noted = 0;
#ifdef VAR_RANGES
		logval("Worker:noted", ((int)((P0 *)_this)->noted));
#endif
		;
		/* merge: found = 0(667, 645, 667) */
		reached[0][645] = 1;
		(trpt+1)->bup.ovals[6] = ((int)((P0 *)_this)->found);
		((P0 *)_this)->found = 0;
#ifdef VAR_RANGES
		logval("Worker:found", ((int)((P0 *)_this)->found));
#endif
		;
		/* merge: finding = 0(667, 646, 667) */
		reached[0][646] = 1;
		(trpt+1)->bup.ovals[7] = ((int)((P0 *)_this)->finding);
		((P0 *)_this)->finding = 0;
#ifdef VAR_RANGES
		logval("Worker:finding", ((int)((P0 *)_this)->finding));
#endif
		;
		/* merge: cell = 0(667, 647, 667) */
		reached[0][647] = 1;
		(trpt+1)->bup.ovals[8] = ((int)((P0 *)_this)->cell);
		((P0 *)_this)->cell = 0;
#ifdef VAR_RANGES
		logval("Worker:cell", ((int)((P0 *)_this)->cell));
#endif
		;
		/* merge: best_cell = 0(667, 648, 667) */
		reached[0][648] = 1;
		(trpt+1)->bup.ovals[9] = ((int)((P0 *)_this)->best_cell);
		((P0 *)_this)->best_cell = 0;
#ifdef VAR_RANGES
		logval("Worker:best_cell", ((int)((P0 *)_this)->best_cell));
#endif
		;
		/* merge: tries = 0(667, 649, 667) */
		reached[0][649] = 1;
		(trpt+1)->bup.ovals[10] = ((int)((P0 *)_this)->tries);
		((P0 *)_this)->tries = 0;
#ifdef VAR_RANGES
		logval("Worker:tries", ((int)((P0 *)_this)->tries));
#endif
		;
		/* merge: phase = 0(667, 650, 667) */
		reached[0][650] = 1;
		(trpt+1)->bup.ovals[11] = ((int)((P0 *)_this)->phase);
		((P0 *)_this)->phase = 0;
#ifdef VAR_RANGES
		logval("Worker:phase", ((int)((P0 *)_this)->phase));
#endif
		;
		/* merge: seen = 0(667, 651, 667) */
		reached[0][651] = 1;
		(trpt+1)->bup.ovals[12] = ((P0 *)_this)->seen;
		((P0 *)_this)->seen = 0;
#ifdef VAR_RANGES
		logval("Worker:seen", ((P0 *)_this)->seen);
#endif
		;
		/* merge: best = 0(667, 652, 667) */
		reached[0][652] = 1;
		(trpt+1)->bup.ovals[13] = ((P0 *)_this)->best;
		((P0 *)_this)->best = 0;
#ifdef VAR_RANGES
		logval("Worker:best", ((P0 *)_this)->best);
#endif
		;
		/* merge: mine = 0(667, 653, 667) */
		reached[0][653] = 1;
		(trpt+1)->bup.ovals[14] = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = 0;
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		/* merge: stamp = 0(667, 654, 667) */
		reached[0][654] = 1;
		(trpt+1)->bup.ovals[15] = ((int)((P0 *)_this)->stamp);
		((P0 *)_this)->stamp = 0;
#ifdef VAR_RANGES
		logval("Worker:stamp", ((int)((P0 *)_this)->stamp));
#endif
		;
		/* merge: same = 0(667, 655, 667) */
		reached[0][655] = 1;
		(trpt+1)->bup.ovals[16] = ((int)((P0 *)_this)->same);
		((P0 *)_this)->same = 0;
#ifdef VAR_RANGES
		logval("Worker:same", ((int)((P0 *)_this)->same));
#endif
		;
		/* merge: seen_key = 0(667, 656, 667) */
		reached[0][656] = 1;
		(trpt+1)->bup.ovals[17] = ((int)((P0 *)_this)->seen_key);
		((P0 *)_this)->seen_key = 0;
#ifdef VAR_RANGES
		logval("Worker:seen_key", ((int)((P0 *)_this)->seen_key));
#endif
		;
		/* merge: room = 0(667, 657, 667) */
		reached[0][657] = 1;
		(trpt+1)->bup.ovals[18] = ((int)((P0 *)_this)->room);
		((P0 *)_this)->room = 0;
#ifdef VAR_RANGES
		logval("Worker:room", ((int)((P0 *)_this)->room));
#endif
		;
		/* merge: got = 0(667, 658, 667) */
		reached[0][658] = 1;
		(trpt+1)->bup.ovals[19] = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = 0;
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		/* merge: recorded = 0(667, 659, 667) */
		reached[0][659] = 1;
		(trpt+1)->bup.ovals[20] = ((int)((P0 *)_this)->recorded);
		((P0 *)_this)->recorded = 0;
#ifdef VAR_RANGES
		logval("Worker:recorded", ((int)((P0 *)_this)->recorded));
#endif
		;
		/* merge: sent = 0(667, 660, 667) */
		reached[0][660] = 1;
		(trpt+1)->bup.ovals[21] = ((int)((P0 *)_this)->sent);
		((P0 *)_this)->sent = 0;
#ifdef VAR_RANGES
		logval("Worker:sent", ((int)((P0 *)_this)->sent));
#endif
		;
		/* merge: wrote = 0(667, 661, 667) */
		reached[0][661] = 1;
		(trpt+1)->bup.ovals[22] = ((int)((P0 *)_this)->wrote);
		((P0 *)_this)->wrote = 0;
#ifdef VAR_RANGES
		logval("Worker:wrote", ((int)((P0 *)_this)->wrote));
#endif
		;
		/* merge: holds[me] = 0(667, 662, 667) */
		reached[0][662] = 1;
		(trpt+1)->bup.ovals[23] = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 23 */
	case 344: // STATE 642 - ledger.pml:465 - [epoch = 0] (0:667:21 - 3)
		IfNotBlocked
		reached[0][642] = 1;
		(trpt+1)->bup.ovals = grab_ints(21);
		(trpt+1)->bup.ovals[0] = ((int)((P0 *)_this)->epoch);
		((P0 *)_this)->epoch = 0;
#ifdef VAR_RANGES
		logval("Worker:epoch", ((int)((P0 *)_this)->epoch));
#endif
		;
		/* merge: i = 0(667, 643, 667) */
		reached[0][643] = 1;
		(trpt+1)->bup.ovals[1] = ((int)((P0 *)_this)->i);
		((P0 *)_this)->i = 0;
#ifdef VAR_RANGES
		logval("Worker:i", ((int)((P0 *)_this)->i));
#endif
		;
		/* merge: noted = 0(667, 644, 667) */
		reached[0][644] = 1;
		(trpt+1)->bup.ovals[2] = ((int)((P0 *)_this)->noted);
		((P0 *)_this)->noted = 0;
#ifdef VAR_RANGES
		logval("Worker:noted", ((int)((P0 *)_this)->noted));
#endif
		;
		/* merge: found = 0(667, 645, 667) */
		reached[0][645] = 1;
		(trpt+1)->bup.ovals[3] = ((int)((P0 *)_this)->found);
		((P0 *)_this)->found = 0;
#ifdef VAR_RANGES
		logval("Worker:found", ((int)((P0 *)_this)->found));
#endif
		;
		/* merge: finding = 0(667, 646, 667) */
		reached[0][646] = 1;
		(trpt+1)->bup.ovals[4] = ((int)((P0 *)_this)->finding);
		((P0 *)_this)->finding = 0;
#ifdef VAR_RANGES
		logval("Worker:finding", ((int)((P0 *)_this)->finding));
#endif
		;
		/* merge: cell = 0(667, 647, 667) */
		reached[0][647] = 1;
		(trpt+1)->bup.ovals[5] = ((int)((P0 *)_this)->cell);
		((P0 *)_this)->cell = 0;
#ifdef VAR_RANGES
		logval("Worker:cell", ((int)((P0 *)_this)->cell));
#endif
		;
		/* merge: best_cell = 0(667, 648, 667) */
		reached[0][648] = 1;
		(trpt+1)->bup.ovals[6] = ((int)((P0 *)_this)->best_cell);
		((P0 *)_this)->best_cell = 0;
#ifdef VAR_RANGES
		logval("Worker:best_cell", ((int)((P0 *)_this)->best_cell));
#endif
		;
		/* merge: tries = 0(667, 649, 667) */
		reached[0][649] = 1;
		(trpt+1)->bup.ovals[7] = ((int)((P0 *)_this)->tries);
		((P0 *)_this)->tries = 0;
#ifdef VAR_RANGES
		logval("Worker:tries", ((int)((P0 *)_this)->tries));
#endif
		;
		/* merge: phase = 0(667, 650, 667) */
		reached[0][650] = 1;
		(trpt+1)->bup.ovals[8] = ((int)((P0 *)_this)->phase);
		((P0 *)_this)->phase = 0;
#ifdef VAR_RANGES
		logval("Worker:phase", ((int)((P0 *)_this)->phase));
#endif
		;
		/* merge: seen = 0(667, 651, 667) */
		reached[0][651] = 1;
		(trpt+1)->bup.ovals[9] = ((P0 *)_this)->seen;
		((P0 *)_this)->seen = 0;
#ifdef VAR_RANGES
		logval("Worker:seen", ((P0 *)_this)->seen);
#endif
		;
		/* merge: best = 0(667, 652, 667) */
		reached[0][652] = 1;
		(trpt+1)->bup.ovals[10] = ((P0 *)_this)->best;
		((P0 *)_this)->best = 0;
#ifdef VAR_RANGES
		logval("Worker:best", ((P0 *)_this)->best);
#endif
		;
		/* merge: mine = 0(667, 653, 667) */
		reached[0][653] = 1;
		(trpt+1)->bup.ovals[11] = ((P0 *)_this)->mine;
		((P0 *)_this)->mine = 0;
#ifdef VAR_RANGES
		logval("Worker:mine", ((P0 *)_this)->mine);
#endif
		;
		/* merge: stamp = 0(667, 654, 667) */
		reached[0][654] = 1;
		(trpt+1)->bup.ovals[12] = ((int)((P0 *)_this)->stamp);
		((P0 *)_this)->stamp = 0;
#ifdef VAR_RANGES
		logval("Worker:stamp", ((int)((P0 *)_this)->stamp));
#endif
		;
		/* merge: same = 0(667, 655, 667) */
		reached[0][655] = 1;
		(trpt+1)->bup.ovals[13] = ((int)((P0 *)_this)->same);
		((P0 *)_this)->same = 0;
#ifdef VAR_RANGES
		logval("Worker:same", ((int)((P0 *)_this)->same));
#endif
		;
		/* merge: seen_key = 0(667, 656, 667) */
		reached[0][656] = 1;
		(trpt+1)->bup.ovals[14] = ((int)((P0 *)_this)->seen_key);
		((P0 *)_this)->seen_key = 0;
#ifdef VAR_RANGES
		logval("Worker:seen_key", ((int)((P0 *)_this)->seen_key));
#endif
		;
		/* merge: room = 0(667, 657, 667) */
		reached[0][657] = 1;
		(trpt+1)->bup.ovals[15] = ((int)((P0 *)_this)->room);
		((P0 *)_this)->room = 0;
#ifdef VAR_RANGES
		logval("Worker:room", ((int)((P0 *)_this)->room));
#endif
		;
		/* merge: got = 0(667, 658, 667) */
		reached[0][658] = 1;
		(trpt+1)->bup.ovals[16] = ((int)((P0 *)_this)->got);
		((P0 *)_this)->got = 0;
#ifdef VAR_RANGES
		logval("Worker:got", ((int)((P0 *)_this)->got));
#endif
		;
		/* merge: recorded = 0(667, 659, 667) */
		reached[0][659] = 1;
		(trpt+1)->bup.ovals[17] = ((int)((P0 *)_this)->recorded);
		((P0 *)_this)->recorded = 0;
#ifdef VAR_RANGES
		logval("Worker:recorded", ((int)((P0 *)_this)->recorded));
#endif
		;
		/* merge: sent = 0(667, 660, 667) */
		reached[0][660] = 1;
		(trpt+1)->bup.ovals[18] = ((int)((P0 *)_this)->sent);
		((P0 *)_this)->sent = 0;
#ifdef VAR_RANGES
		logval("Worker:sent", ((int)((P0 *)_this)->sent));
#endif
		;
		/* merge: wrote = 0(667, 661, 667) */
		reached[0][661] = 1;
		(trpt+1)->bup.ovals[19] = ((int)((P0 *)_this)->wrote);
		((P0 *)_this)->wrote = 0;
#ifdef VAR_RANGES
		logval("Worker:wrote", ((int)((P0 *)_this)->wrote));
#endif
		;
		/* merge: holds[me] = 0(667, 662, 667) */
		reached[0][662] = 1;
		(trpt+1)->bup.ovals[20] = ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.holds[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("holds[Worker:me]", ((int)now.holds[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 20 */
	case 345: // STATE 664 - ledger.pml:469 - [(reaped[me])] (636:0:2 - 1)
		IfNotBlocked
		reached[0][664] = 1;
		if (!(((int)now.reaped[ Index(((int)((P0 *)_this)->me), 2) ])))
			continue;
		/* merge: reaped[me] = 0(636, 665, 636) */
		reached[0][665] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)now.reaped[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.reaped[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("reaped[Worker:me]", ((int)now.reaped[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		/* merge: killed[me] = 0(636, 666, 636) */
		reached[0][666] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.killed[ Index(((int)((P0 *)_this)->me), 2) ]);
		now.killed[ Index(((P0 *)_this)->me, 2) ] = 0;
#ifdef VAR_RANGES
		logval("killed[Worker:me]", ((int)now.killed[ Index(((int)((P0 *)_this)->me), 2) ]));
#endif
		;
		/* merge: goto life(0, 668, 636) */
		reached[0][668] = 1;
		;
		_m = 3; goto P999; /* 3 */
	case 346: // STATE 670 - ledger.pml:473 - [-end-] (0:0:0 - 1)
		IfNotBlocked
		reached[0][670] = 1;
		if (!delproc(1, II)) continue;
		_m = 3; goto P999; /* 0 */
	case  _T5:	/* np_ */
		if (!((!(trpt->o_pm&4) && !(trpt->tau&128))))
			continue;
		/* else fall through */
	case  _T2:	/* true */
		_m = 3; goto P999;
#undef rand
	}

