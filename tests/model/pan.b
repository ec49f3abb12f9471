	switch (t->back) {
	default: Uerror("bad return move");
	case  0: goto R999; /* nothing to undo */

		 /* PROC Master */

	case 3: // STATE 2
		;
		now.kills_left = trpt->bup.oval;
		;
		goto R999;

	case 4: // STATE 3
		;
		((P1 *)_this)->w = trpt->bup.oval;
		;
		goto R999;

	case 5: // STATE 4
		;
		((P1 *)_this)->w = trpt->bup.oval;
		;
		goto R999;

	case 6: // STATE 8
		;
		now.killed[ Index(((P1 *)_this)->w, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 7: // STATE 10
		;
		((P1 *)_this)->w = trpt->bup.oval;
		;
		goto R999;

	case 8: // STATE 17
		;
		((P1 *)_this)->w = trpt->bup.ovals[2];
		now.reaped[ Index(((P1 *)_this)->w, 2) ] = trpt->bup.ovals[1];
		now.generation[ Index(((P1 *)_this)->w, 2) ] = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 3);
		goto R999;
;
		;
		
	case 10: // STATE 25
		;
		((P1 *)_this)->w = trpt->bup.oval;
		;
		goto R999;
;
		;
		;
		;
		
	case 13: // STATE 28
		;
		((P1 *)_this)->w = trpt->bup.oval;
		;
		goto R999;

	case 14: // STATE 34
		;
		p_restor(II);
		;
		;
		goto R999;

		 /* PROC Worker */

	case 15: // STATE 1
		;
		((P0 *)_this)->stamp = trpt->bup.oval;
		;
		goto R999;
;
		;
		;
		;
		
	case 18: // STATE 3
		;
		now.turns_left = trpt->bup.oval;
		;
		goto R999;

	case 19: // STATE 5
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;

	case 20: // STATE 6
		;
		((P0 *)_this)->tries = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 22: // STATE 8
		;
		((P0 *)_this)->noted = trpt->bup.oval;
		;
		goto R999;

	case 23: // STATE 9
		;
		((P0 *)_this)->found = trpt->bup.oval;
		;
		goto R999;

	case 24: // STATE 10
		;
		((P0 *)_this)->cell = trpt->bup.oval;
		;
		goto R999;
;
		;
		;
		;
		
	case 27: // STATE 13
		;
		((P0 *)_this)->seen = trpt->bup.oval;
		;
		goto R999;

	case 28: // STATE 14
		;
		((P0 *)_this)->seen_key = trpt->bup.oval;
		;
		goto R999;

	case 29: // STATE 15
		;
		((P0 *)_this)->phase = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 31: // STATE 17
		;
	/* 0 */	((P0 *)_this)->phase = trpt->bup.oval;
		;
		;
		goto R999;

	case 32: // STATE 18
		;
		((P0 *)_this)->phase = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 34: // STATE 21
		;
		((P0 *)_this)->phase = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 36: // STATE 23
		;
		((P0 *)_this)->phase = trpt->bup.oval;
		;
		goto R999;

	case 37: // STATE 25
		;
		((P0 *)_this)->phase = trpt->bup.oval;
		;
		goto R999;

	case 38: // STATE 34
		;
		((P0 *)_this)->same = trpt->bup.oval;
		;
		goto R999;

	case 39: // STATE 36
		;
	/* 0 */	((P0 *)_this)->same = trpt->bup.oval;
		;
		;
		goto R999;

	case 40: // STATE 37
		;
		((P0 *)_this)->found = trpt->bup.oval;
		;
		goto R999;

	case 41: // STATE 38
		;
		((P0 *)_this)->cell = trpt->bup.oval;
		;
		goto R999;

	case 42: // STATE 39
		;
	/* 1 */	((P0 *)_this)->seen_key = trpt->bup.ovals[1];
	/* 0 */	((P0 *)_this)->same = trpt->bup.ovals[0];
		;
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;

	case 43: // STATE 40
		;
		((P0 *)_this)->finding = trpt->bup.oval;
		;
		goto R999;

	case 44: // STATE 41
		;
	/* 0 */	((P0 *)_this)->phase = trpt->bup.oval;
		;
		;
		goto R999;

	case 45: // STATE 42
		;
	/* 0 */	((P0 *)_this)->phase = trpt->bup.oval;
		;
		;
		goto R999;

	case 46: // STATE 43
		;
		((P0 *)_this)->finding = trpt->bup.oval;
		;
		goto R999;

	case 47: // STATE 44
		;
	/* 0 */	((P0 *)_this)->phase = trpt->bup.oval;
		;
		;
		goto R999;

	case 48: // STATE 45
		;
		((P0 *)_this)->finding = trpt->bup.oval;
		;
		goto R999;

	case 49: // STATE 46
		;
	/* 0 */	((P0 *)_this)->phase = trpt->bup.oval;
		;
		;
		goto R999;

	case 50: // STATE 47
		;
		((P0 *)_this)->finding = trpt->bup.oval;
		;
		goto R999;

	case 51: // STATE 48
		;
	/* 0 */	((P0 *)_this)->phase = trpt->bup.oval;
		;
		;
		goto R999;

	case 52: // STATE 49
		;
		((P0 *)_this)->finding = trpt->bup.oval;
		;
		goto R999;

	case 53: // STATE 52
		;
	/* 0 */	((P0 *)_this)->found = trpt->bup.oval;
		;
		;
		goto R999;

	case 54: // STATE 53
		;
		((P0 *)_this)->found = trpt->bup.oval;
		;
		goto R999;

	case 55: // STATE 54
		;
		((P0 *)_this)->best = trpt->bup.oval;
		;
		goto R999;

	case 56: // STATE 55
		;
		((P0 *)_this)->best_cell = trpt->bup.oval;
		;
		goto R999;

	case 57: // STATE 62
		;
		((P0 *)_this)->phase = trpt->bup.oval;
		;
		goto R999;

	case 58: // STATE 63
		;
		((P0 *)_this)->seen_key = trpt->bup.oval;
		;
		goto R999;

	case 59: // STATE 64
		;
		((P0 *)_this)->finding = trpt->bup.oval;
		;
		goto R999;

	case 60: // STATE 65
		;
		((P0 *)_this)->same = trpt->bup.oval;
		;
		goto R999;

	case 61: // STATE 66
		;
		((P0 *)_this)->seen = trpt->bup.oval;
		;
		goto R999;

	case 62: // STATE 71
		;
		((P0 *)_this)->cell = trpt->bup.oval;
		;
		goto R999;

	case 63: // STATE 77
		;
		((P0 *)_this)->cell = trpt->bup.oval;
		;
		goto R999;

	case 64: // STATE 79
		;
	/* 0 */	((P0 *)_this)->found = trpt->bup.oval;
		;
		;
		goto R999;

	case 65: // STATE 80
		;
	/* 0 */	((P0 *)_this)->found = trpt->bup.oval;
		;
		;
		goto R999;
;
		;
		
	case 67: // STATE 82
		;
		((P0 *)_this)->epoch = trpt->bup.oval;
		;
		goto R999;

	case 68: // STATE 83
		;
		now.word[ Index(((P0 *)_this)->best_cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 69: // STATE 84
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 70: // STATE 85
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;
;
		;
		;
		;
		;
		;
		
	case 74: // STATE 90
		;
		((P0 *)_this)->i = trpt->bup.oval;
		;
		goto R999;
;
		;
		;
		;
		
	case 77: // STATE 93
		;
		((P0 *)_this)->i = trpt->bup.oval;
		;
		goto R999;

	case 78: // STATE 99
		;
		((P0 *)_this)->i = trpt->bup.oval;
		;
		goto R999;

	case 79: // STATE 102
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;

	case 80: // STATE 107
		;
	/* 0 */	((P0 *)_this)->found = trpt->bup.oval;
		;
		;
		goto R999;

	case 81: // STATE 108
		;
		((P0 *)_this)->cell = trpt->bup.oval;
		;
		goto R999;

	case 82: // STATE 109
		;
		((P0 *)_this)->cell = trpt->bup.oval;
		;
		goto R999;

	case 83: // STATE 113
		;
		((P0 *)_this)->seen = trpt->bup.oval;
		;
		goto R999;

	case 84: // STATE 114
		;
		((P0 *)_this)->seen_key = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;

	case 85: // STATE 115
		;
		((P0 *)_this)->phase = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 87: // STATE 117
		;
	/* 0 */	((P0 *)_this)->phase = trpt->bup.oval;
		;
		;
		goto R999;

	case 88: // STATE 118
		;
		((P0 *)_this)->phase = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 90: // STATE 121
		;
		((P0 *)_this)->phase = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 92: // STATE 123
		;
		((P0 *)_this)->phase = trpt->bup.oval;
		;
		goto R999;

	case 93: // STATE 125
		;
		((P0 *)_this)->phase = trpt->bup.oval;
		;
		goto R999;

	case 94: // STATE 134
		;
		((P0 *)_this)->same = trpt->bup.oval;
		;
		goto R999;

	case 95: // STATE 136
		;
		((P0 *)_this)->best = trpt->bup.oval;
		;
		goto R999;

	case 96: // STATE 137
		;
		((P0 *)_this)->best_cell = trpt->bup.oval;
		;
		goto R999;

	case 97: // STATE 138
		;
		((P0 *)_this)->room = trpt->bup.oval;
		;
		goto R999;

	case 98: // STATE 139
		;
		((P0 *)_this)->phase = trpt->bup.oval;
		;
		goto R999;

	case 99: // STATE 140
		;
		((P0 *)_this)->seen_key = trpt->bup.oval;
		;
		goto R999;

	case 100: // STATE 141
		;
		((P0 *)_this)->same = trpt->bup.oval;
		;
		goto R999;

	case 101: // STATE 142
		;
		((P0 *)_this)->seen = trpt->bup.oval;
		;
		goto R999;

	case 102: // STATE 143
		;
		((P0 *)_this)->cell = trpt->bup.oval;
		;
		goto R999;

	case 103: // STATE 146
		;
	/* 0 */	((P0 *)_this)->room = trpt->bup.oval;
		;
		;
		goto R999;
;
		;
		
	case 105: // STATE 148
		;
		((P0 *)_this)->epoch = trpt->bup.oval;
		;
		goto R999;

	case 106: // STATE 149
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 107: // STATE 150
		;
		now.word[ Index(((P0 *)_this)->best_cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 108: // STATE 151
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;

	case 109: // STATE 153
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 111: // STATE 158
		;
		now.key[ Index(((P0 *)_this)->best_cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 112: // STATE 159
		;
		now.tag[ Index(((P0 *)_this)->best_cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 113: // STATE 160
		;
	/* 0 */	((P0 *)_this)->noted = trpt->bup.oval;
		;
		;
		goto R999;

	case 114: // STATE 161
		;
		now.inserts = trpt->bup.oval;
		;
		goto R999;

	case 115: // STATE 163
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;
;
		;
		;
		;
		
	case 118: // STATE 169
		;
		now.word[ Index(((P0 *)_this)->best_cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 119: // STATE 170
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.oval;
		;
		goto R999;
;
		;
		;
		;
		;
		;
		
	case 123: // STATE 175
		;
		((P0 *)_this)->i = trpt->bup.oval;
		;
		goto R999;
;
		;
		;
		;
		
	case 126: // STATE 178
		;
		((P0 *)_this)->i = trpt->bup.oval;
		;
		goto R999;

	case 127: // STATE 184
		;
		((P0 *)_this)->i = trpt->bup.oval;
		;
		goto R999;

	case 128: // STATE 187
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;

	case 129: // STATE 192
		;
		now.tag[ Index(((P0 *)_this)->best_cell, 2) ] = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 131: // STATE 194
		;
		now.word[ Index(((P0 *)_this)->best_cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 132: // STATE 209
		;
		((P0 *)_this)->tries = trpt->bup.oval;
		;
		goto R999;

	case 133: // STATE 212
		;
		((P0 *)_this)->tries = trpt->bup.oval;
		;
		goto R999;

	case 134: // STATE 218
		;
		((P0 *)_this)->cell = trpt->bup.oval;
		;
		goto R999;

	case 135: // STATE 219
		;
		((P0 *)_this)->best = trpt->bup.oval;
		;
		goto R999;

	case 136: // STATE 220
		;
		((P0 *)_this)->best_cell = trpt->bup.oval;
		;
		goto R999;

	case 137: // STATE 221
		;
		((P0 *)_this)->found = trpt->bup.oval;
		;
		goto R999;

	case 138: // STATE 222
		;
		((P0 *)_this)->room = trpt->bup.oval;
		;
		goto R999;

	case 139: // STATE 223
		;
		((P0 *)_this)->noted = trpt->bup.oval;
		;
		goto R999;

	case 140: // STATE 224
		;
		((P0 *)_this)->tries = trpt->bup.oval;
		;
		goto R999;

	case 141: // STATE 225
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 143: // STATE 229
		;
		((P0 *)_this)->recorded = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 145: // STATE 232
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;

	case 146: // STATE 233
		;
	/* 0 */	((P0 *)_this)->got = trpt->bup.oval;
		;
		;
		goto R999;

	case 147: // STATE 234
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 148: // STATE 235
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;
;
		;
		;
		;
		;
		;
		
	case 152: // STATE 244
		;
		now.word[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 153: // STATE 245
		;
		now.charged = trpt->bup.oval;
		;
		goto R999;
;
		;
		;
		;
		;
		;
		
	case 157: // STATE 251
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;

	case 158: // STATE 252
		;
		((P0 *)_this)->recorded = trpt->bup.oval;
		;
		goto R999;

	case 159: // STATE 253
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 160: // STATE 257
		;
	/* 1 */	((P0 *)_this)->mine = trpt->bup.ovals[1];
	/* 0 */	((P0 *)_this)->got = trpt->bup.ovals[0];
		;
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;

	case 161: // STATE 258
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;

	case 162: // STATE 260
		;
		((P0 *)_this)->recorded = trpt->bup.oval;
		;
		goto R999;

	case 163: // STATE 261
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 165: // STATE 268
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;

	case 166: // STATE 269
		;
		now.unrecorded = trpt->bup.oval;
		;
		goto R999;

	case 167: // STATE 273
		;
		((P0 *)_this)->sent = trpt->bup.oval;
		;
		goto R999;

	case 168: // STATE 274
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 169: // STATE 276
		;
	/* 0 */	((P0 *)_this)->got = trpt->bup.oval;
		;
		;
		goto R999;
;
		;
		
	case 171: // STATE 278
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 172: // STATE 279
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 174: // STATE 283
		;
	/* 0 */	((P0 *)_this)->got = trpt->bup.oval;
		;
		;
		goto R999;

	case 175: // STATE 284
		;
		now.tag[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 177: // STATE 286
		;
		now.word[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 178: // STATE 290
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 179: // STATE 292
		;
	/* 0 */	((P0 *)_this)->got = trpt->bup.oval;
		;
		;
		goto R999;
;
		;
		
	case 181: // STATE 294
		;
		now.word[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 182: // STATE 298
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 183: // STATE 301
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 184: // STATE 307
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 185: // STATE 308
		;
		((P0 *)_this)->wrote = trpt->bup.oval;
		;
		goto R999;

	case 186: // STATE 309
		;
		((P0 *)_this)->recorded = trpt->bup.oval;
		;
		goto R999;

	case 187: // STATE 310
		;
		((P0 *)_this)->sent = trpt->bup.oval;
		;
		goto R999;

	case 188: // STATE 311
		;
		((P0 *)_this)->cell = trpt->bup.oval;
		;
		goto R999;

	case 189: // STATE 312
		;
		((P0 *)_this)->epoch = trpt->bup.oval;
		;
		goto R999;

	case 190: // STATE 313
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;
;
		;
		;
		;
		
	case 193: // STATE 320
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 194: // STATE 321
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;
;
		;
		;
		;
		;
		;
		
	case 198: // STATE 327
		;
		now.word[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 199: // STATE 328
		;
		now.given_back = trpt->bup.oval;
		;
		goto R999;
;
		;
		;
		;
		;
		;
		;
		;
		
	case 204: // STATE 342
		;
		now.unrecorded = trpt->bup.oval;
		;
		goto R999;

	case 205: // STATE 343
		;
		((P0 *)_this)->sent = trpt->bup.oval;
		;
		goto R999;

	case 206: // STATE 346
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;
;
		;
		;
		;
		
	case 209: // STATE 351
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 210: // STATE 352
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;
;
		;
		;
		;
		;
		;
		
	case 214: // STATE 358
		;
		now.word[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 215: // STATE 359
		;
		now.given_back = trpt->bup.oval;
		;
		goto R999;
;
		;
		;
		;
		;
		;
		;
		;
		
	case 220: // STATE 373
		;
		now.unrecorded = trpt->bup.oval;
		;
		goto R999;

	case 221: // STATE 374
		;
		((P0 *)_this)->sent = trpt->bup.oval;
		;
		goto R999;

	case 222: // STATE 377
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 224: // STATE 381
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 225: // STATE 382
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 227: // STATE 386
		;
	/* 0 */	((P0 *)_this)->got = trpt->bup.oval;
		;
		;
		goto R999;

	case 228: // STATE 387
		;
		now.tag[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 230: // STATE 389
		;
		now.word[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 231: // STATE 393
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 232: // STATE 395
		;
	/* 0 */	((P0 *)_this)->got = trpt->bup.oval;
		;
		;
		goto R999;
;
		;
		
	case 234: // STATE 397
		;
		now.word[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 235: // STATE 401
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 236: // STATE 404
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 237: // STATE 410
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 238: // STATE 411
		;
		((P0 *)_this)->wrote = trpt->bup.oval;
		;
		goto R999;

	case 239: // STATE 412
		;
		((P0 *)_this)->recorded = trpt->bup.oval;
		;
		goto R999;

	case 240: // STATE 413
		;
		((P0 *)_this)->sent = trpt->bup.oval;
		;
		goto R999;

	case 241: // STATE 414
		;
		((P0 *)_this)->cell = trpt->bup.oval;
		;
		goto R999;

	case 242: // STATE 415
		;
		((P0 *)_this)->epoch = trpt->bup.oval;
		;
		goto R999;

	case 243: // STATE 416
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;

	case 244: // STATE 423
		;
		now.written = trpt->bup.oval;
		;
		goto R999;

	case 245: // STATE 424
		;
		((P0 *)_this)->wrote = trpt->bup.oval;
		;
		goto R999;
;
		;
		;
		;
		;
		;
		;
		;
		
	case 250: // STATE 432
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 251: // STATE 433
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;
;
		;
		;
		;
		
	case 254: // STATE 438
		;
		now.word[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 255: // STATE 442
		;
		((P0 *)_this)->wrote = trpt->bup.oval;
		;
		goto R999;

	case 256: // STATE 443
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 257: // STATE 446
		;
		((P0 *)_this)->wrote = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 259: // STATE 452
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 260: // STATE 453
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 262: // STATE 457
		;
	/* 0 */	((P0 *)_this)->got = trpt->bup.oval;
		;
		;
		goto R999;

	case 263: // STATE 458
		;
		now.word[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 264: // STATE 462
		;
		((P0 *)_this)->wrote = trpt->bup.oval;
		;
		goto R999;

	case 265: // STATE 463
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 266: // STATE 466
		;
		((P0 *)_this)->wrote = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 268: // STATE 471
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 269: // STATE 472
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 271: // STATE 476
		;
	/* 0 */	((P0 *)_this)->got = trpt->bup.oval;
		;
		;
		goto R999;

	case 272: // STATE 477
		;
		now.tag[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 274: // STATE 479
		;
		now.word[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 275: // STATE 483
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 276: // STATE 485
		;
	/* 0 */	((P0 *)_this)->got = trpt->bup.oval;
		;
		;
		goto R999;
;
		;
		
	case 278: // STATE 487
		;
		now.word[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 279: // STATE 491
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 280: // STATE 494
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 281: // STATE 500
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 282: // STATE 501
		;
		((P0 *)_this)->wrote = trpt->bup.oval;
		;
		goto R999;

	case 283: // STATE 502
		;
		((P0 *)_this)->recorded = trpt->bup.oval;
		;
		goto R999;

	case 284: // STATE 503
		;
		((P0 *)_this)->sent = trpt->bup.oval;
		;
		goto R999;

	case 285: // STATE 504
		;
		((P0 *)_this)->cell = trpt->bup.oval;
		;
		goto R999;

	case 286: // STATE 505
		;
		((P0 *)_this)->epoch = trpt->bup.oval;
		;
		goto R999;

	case 287: // STATE 506
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 289: // STATE 512
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 290: // STATE 513
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 292: // STATE 517
		;
	/* 0 */	((P0 *)_this)->got = trpt->bup.oval;
		;
		;
		goto R999;

	case 293: // STATE 518
		;
		now.tag[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 295: // STATE 520
		;
		now.word[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 296: // STATE 524
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 297: // STATE 526
		;
	/* 0 */	((P0 *)_this)->got = trpt->bup.oval;
		;
		;
		goto R999;
;
		;
		
	case 299: // STATE 528
		;
		now.word[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 300: // STATE 532
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 301: // STATE 535
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 302: // STATE 541
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 303: // STATE 542
		;
		((P0 *)_this)->wrote = trpt->bup.oval;
		;
		goto R999;

	case 304: // STATE 543
		;
		((P0 *)_this)->recorded = trpt->bup.oval;
		;
		goto R999;

	case 305: // STATE 544
		;
		((P0 *)_this)->sent = trpt->bup.oval;
		;
		goto R999;

	case 306: // STATE 545
		;
		((P0 *)_this)->cell = trpt->bup.oval;
		;
		goto R999;

	case 307: // STATE 546
		;
		((P0 *)_this)->epoch = trpt->bup.oval;
		;
		goto R999;

	case 308: // STATE 547
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 310: // STATE 553
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 311: // STATE 554
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 313: // STATE 558
		;
	/* 0 */	((P0 *)_this)->got = trpt->bup.oval;
		;
		;
		goto R999;

	case 314: // STATE 559
		;
		now.word[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 315: // STATE 563
		;
		((P0 *)_this)->wrote = trpt->bup.oval;
		;
		goto R999;

	case 316: // STATE 564
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 317: // STATE 567
		;
		((P0 *)_this)->wrote = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 319: // STATE 572
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 320: // STATE 573
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 322: // STATE 577
		;
	/* 0 */	((P0 *)_this)->got = trpt->bup.oval;
		;
		;
		goto R999;

	case 323: // STATE 578
		;
		now.tag[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 325: // STATE 580
		;
		now.word[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 326: // STATE 584
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 327: // STATE 586
		;
	/* 0 */	((P0 *)_this)->got = trpt->bup.oval;
		;
		;
		goto R999;
;
		;
		
	case 329: // STATE 588
		;
		now.word[ Index(((P0 *)_this)->cell, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 330: // STATE 592
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 331: // STATE 595
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 332: // STATE 601
		;
		((P0 *)_this)->mine = trpt->bup.oval;
		;
		goto R999;

	case 333: // STATE 602
		;
		((P0 *)_this)->wrote = trpt->bup.oval;
		;
		goto R999;

	case 334: // STATE 603
		;
		((P0 *)_this)->recorded = trpt->bup.oval;
		;
		goto R999;

	case 335: // STATE 604
		;
		((P0 *)_this)->sent = trpt->bup.oval;
		;
		goto R999;

	case 336: // STATE 605
		;
		((P0 *)_this)->cell = trpt->bup.oval;
		;
		goto R999;

	case 337: // STATE 606
		;
		((P0 *)_this)->epoch = trpt->bup.oval;
		;
		goto R999;

	case 338: // STATE 607
		;
		((P0 *)_this)->got = trpt->bup.oval;
		;
		goto R999;

	case 339: // STATE 621
		;
		((P0 *)_this)->cell = trpt->bup.oval;
		;
		goto R999;

	case 340: // STATE 622
		;
		((P0 *)_this)->epoch = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 342: // STATE 631
		;
		now.done = trpt->bup.oval;
		;
		goto R999;

	case 343: // STATE 662
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.ovals[23];
		((P0 *)_this)->wrote = trpt->bup.ovals[22];
		((P0 *)_this)->sent = trpt->bup.ovals[21];
		((P0 *)_this)->recorded = trpt->bup.ovals[20];
		((P0 *)_this)->got = trpt->bup.ovals[19];
		((P0 *)_this)->room = trpt->bup.ovals[18];
		((P0 *)_this)->seen_key = trpt->bup.ovals[17];
		((P0 *)_this)->same = trpt->bup.ovals[16];
		((P0 *)_this)->stamp = trpt->bup.ovals[15];
		((P0 *)_this)->mine = trpt->bup.ovals[14];
		((P0 *)_this)->best = trpt->bup.ovals[13];
		((P0 *)_this)->seen = trpt->bup.ovals[12];
		((P0 *)_this)->phase = trpt->bup.ovals[11];
		((P0 *)_this)->tries = trpt->bup.ovals[10];
		((P0 *)_this)->best_cell = trpt->bup.ovals[9];
		((P0 *)_this)->cell = trpt->bup.ovals[8];
		((P0 *)_this)->finding = trpt->bup.ovals[7];
		((P0 *)_this)->found = trpt->bup.ovals[6];
		((P0 *)_this)->noted = trpt->bup.ovals[5];
		((P0 *)_this)->i = trpt->bup.ovals[4];
		((P0 *)_this)->epoch = trpt->bup.ovals[3];
		now.may_have_run = trpt->bup.ovals[2];
	/* 1 */	((P0 *)_this)->recorded = trpt->bup.ovals[1];
	/* 0 */	((P0 *)_this)->wrote = trpt->bup.ovals[0];
		;
		;
		ungrab_ints(trpt->bup.ovals, 24);
		goto R999;

	case 344: // STATE 662
		;
		now.holds[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.ovals[20];
		((P0 *)_this)->wrote = trpt->bup.ovals[19];
		((P0 *)_this)->sent = trpt->bup.ovals[18];
		((P0 *)_this)->recorded = trpt->bup.ovals[17];
		((P0 *)_this)->got = trpt->bup.ovals[16];
		((P0 *)_this)->room = trpt->bup.ovals[15];
		((P0 *)_this)->seen_key = trpt->bup.ovals[14];
		((P0 *)_this)->same = trpt->bup.ovals[13];
		((P0 *)_this)->stamp = trpt->bup.ovals[12];
		((P0 *)_this)->mine = trpt->bup.ovals[11];
		((P0 *)_this)->best = trpt->bup.ovals[10];
		((P0 *)_this)->seen = trpt->bup.ovals[9];
		((P0 *)_this)->phase = trpt->bup.ovals[8];
		((P0 *)_this)->tries = trpt->bup.ovals[7];
		((P0 *)_this)->best_cell = trpt->bup.ovals[6];
		((P0 *)_this)->cell = trpt->bup.ovals[5];
		((P0 *)_this)->finding = trpt->bup.ovals[4];
		((P0 *)_this)->found = trpt->bup.ovals[3];
		((P0 *)_this)->noted = trpt->bup.ovals[2];
		((P0 *)_this)->i = trpt->bup.ovals[1];
		((P0 *)_this)->epoch = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 21);
		goto R999;

	case 345: // STATE 666
		;
		now.killed[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.ovals[1];
		now.reaped[ Index(((P0 *)_this)->me, 2) ] = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;

	case 346: // STATE 670
		;
		p_restor(II);
		;
		;
		goto R999;
	}

