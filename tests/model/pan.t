#ifdef PEG
struct T_SRC {
	char *fl; int ln;
} T_SRC[NTRANS];

void
tr_2_src(int m, char *file, int ln)
{	T_SRC[m].fl = file;
	T_SRC[m].ln = ln;
}

void
putpeg(int n, int m)
{	printf("%5d	trans %4d ", m, n);
	printf("%s:%d\n",
		T_SRC[n].fl, T_SRC[n].ln);
}
#endif

void
settable(void)
{	Trans *T;
	Trans *settr(int, int, int, int, int, char *, int, int, int);

	trans = (Trans ***) emalloc(3*sizeof(Trans **));

	/* proctype 1: Master */

	trans[1] = (Trans **) emalloc(35*sizeof(Trans *));

	trans[1][23]	= settr(692,0,22,1,0,".(goto)", 0, 2, 0);
	T = trans[1][22] = settr(691,0,0,0,0,"DO", 0, 2, 0);
	T = T->nxt	= settr(691,0,14,0,0,"DO", 0, 2, 0);
	    T->nxt	= settr(691,0,20,0,0,"DO", 0, 2, 0);
	T = trans[ 1][14] = settr(683,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(683,2,1,0,0,"ATOMIC", 1, 2, 0);
	trans[1][1]	= settr(670,2,5,3,3,"(((kills_left>0)&&(done<2)))", 1, 2, 0); /* m: 2 -> 5,0 */
	reached1[2] = 1;
	trans[1][2]	= settr(0,0,0,0,0,"kills_left = (kills_left-1)",0,0,0);
	T = trans[1][5] = settr(674,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(674,2,3,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(674,2,4,0,0,"IF", 1, 2, 0);
	trans[1][3]	= settr(672,2,12,4,4,"w = 0", 1, 2, 0);
	trans[1][6]	= settr(675,2,12,1,0,".(goto)", 1, 2, 0);
	trans[1][4]	= settr(673,2,12,5,5,"w = 1", 1, 2, 0);
	T = trans[1][12] = settr(681,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(681,2,7,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(681,2,9,0,0,"IF", 1, 2, 0);
	trans[1][7]	= settr(676,4,18,6,6,"(!(killed[w]))", 1, 2, 0); /* m: 8 -> 18,0 */
	reached1[8] = 1;
	trans[1][8]	= settr(0,0,0,0,0,"killed[w] = 1",0,0,0);
	trans[1][13]	= settr(682,0,18,1,0,".(goto)", 1, 2, 0);
	trans[1][9]	= settr(678,2,10,2,0,"else", 1, 2, 0);
	trans[1][10]	= settr(679,4,19,7,7,"w = 0", 1, 2, 0); /* m: 11 -> 0,19 */
	reached1[11] = 1;
	trans[1][11]	= settr(680,0,19,1,0,"goto next", 1, 2, 0);
	T = trans[ 1][18] = settr(687,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(687,2,15,0,0,"ATOMIC", 1, 2, 0);
	trans[1][15]	= settr(684,4,19,8,8,"generation[w] = (generation[w]+1)", 1, 2, 0); /* m: 16 -> 0,19 */
	reached1[16] = 1;
	trans[1][16]	= settr(0,0,0,0,0,"reaped[w] = 1",0,0,0);
	trans[1][17]	= settr(0,0,0,0,0,"w = 0",0,0,0);
	trans[1][19]	= settr(688,0,22,1,0,"(1)", 0, 2, 0);
	trans[1][20]	= settr(689,0,25,9,0,"((done==2))", 1, 2, 0);
	trans[1][21]	= settr(690,0,25,1,0,"goto :b6", 0, 2, 0); /* m: 25 -> 0,31 */
	reached1[25] = 1;
	trans[1][24]	= settr(693,0,25,1,0,"break", 0, 2, 0);
	trans[1][25]	= settr(694,0,31,10,10,"w = 0", 0, 2, 0);
	trans[1][32]	= settr(701,0,31,1,0,".(goto)", 0, 2, 0);
	T = trans[1][31] = settr(700,0,0,0,0,"DO", 0, 2, 0);
	T = T->nxt	= settr(700,0,26,0,0,"DO", 0, 2, 0);
	    T->nxt	= settr(700,0,29,0,0,"DO", 0, 2, 0);
	trans[1][26]	= settr(695,0,27,11,0,"((w<2))", 0, 2, 0);
	trans[1][27]	= settr(696,0,28,12,0,"assert(((((((word[w]>>5)&7)==0)||(((word[w]>>5)&7)==3))||(((word[w]>>5)&7)==4))||(generation[((word[w]>>3)&3)]!=(word[w]&7))))", 1, 2, 0);
	trans[1][28]	= settr(697,0,31,13,13,"w = (w+1)", 0, 2, 0);
	trans[1][29]	= settr(698,0,34,2,0,"else", 0, 2, 0);
	trans[1][30]	= settr(699,0,34,1,0,"goto :b7", 0, 2, 0);
	trans[1][33]	= settr(702,0,34,1,0,"break", 0, 2, 0);
	trans[1][34]	= settr(703,0,0,14,14,"-end-", 0, 3500, 0);

	/* proctype 0: Worker */

	trans[0] = (Trans **) emalloc(671*sizeof(Trans *));

	T = trans[ 0][636] = settr(635,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(635,0,1,0,0,"sub-sequence", 0, 2, 0);
	trans[0][1]	= settr(0,0,628,15,15,"stamp = generation[me]", 1, 2, 0);
	trans[0][1]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	trans[0][633]	= settr(632,0,663,16,0,"(killed[me])", 1, 2, 0);
	trans[0][635]	= settr(634,0,663,1,0,".(goto)", 0, 2, 0);
	/* end-escapes */
	trans[0][629]	= settr(628,0,628,1,0,".(goto)", 0, 2, 0);
	T = trans[0][628] = settr(627,0,0,0,0,"DO", 0, 2, 0);
	T = T->nxt	= settr(627,0,4,0,0,"DO", 0, 2, 0);
	    T->nxt	= settr(627,0,626,0,0,"DO", 0, 2, 0);
	T = trans[ 0][4] = settr(3,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(3,2,2,0,0,"ATOMIC", 1, 2, 0);
	trans[0][2]	= settr(1,2,3,17,0,"((turns_left>0))", 1, 2, 0);
	trans[0][2]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][3]	= settr(2,0,625,18,18,"turns_left = (turns_left-1)", 1, 2, 0);
	trans[0][3]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][625] = settr(624,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(624,0,227,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 0][227] = settr(226,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(226,0,5,0,0,"sub-sequence", 0, 2, 0);
	trans[0][5]	= settr(4,0,6,19,19,"got = 0", 0, 2, 0);
	trans[0][5]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][6]	= settr(5,0,215,20,20,"tries = 0", 0, 2, 0);
	trans[0][6]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][216]	= settr(215,0,215,1,0,".(goto)", 0, 2, 0);
	T = trans[0][215] = settr(214,0,0,0,0,"DO", 0, 2, 0);
	T = T->nxt	= settr(214,0,7,0,0,"DO", 0, 2, 0);
	    T->nxt	= settr(214,0,213,0,0,"DO", 0, 2, 0);
	trans[0][7]	= settr(6,0,8,21,0,"(((tries<2)&&!(got)))", 0, 2, 0);
	trans[0][7]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][8]	= settr(7,0,78,22,22,"noted = inserts", 1, 2, 0);
	trans[0][8]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][78] = settr(77,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(77,0,9,0,0,"sub-sequence", 0, 2, 0);
	trans[0][9]	= settr(8,0,10,23,23,"found = 0", 0, 2, 0);
	trans[0][9]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][10]	= settr(9,0,74,24,24,"cell = 0", 0, 2, 0);
	trans[0][10]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][75]	= settr(74,0,74,1,0,".(goto)", 0, 2, 0);
	T = trans[0][74] = settr(73,0,0,0,0,"DO", 0, 2, 0);
	T = T->nxt	= settr(73,0,11,0,0,"DO", 0, 2, 0);
	    T->nxt	= settr(73,0,72,0,0,"DO", 0, 2, 0);
	trans[0][11]	= settr(10,0,69,25,0,"((cell<2))", 0, 2, 0);
	trans[0][11]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][69] = settr(68,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(68,0,12,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(68,0,68,0,0,"IF", 0, 2, 0);
	trans[0][12]	= settr(11,0,35,26,0,"(tag[cell])", 1, 2, 0);
	trans[0][12]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][35] = settr(34,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(34,0,13,0,0,"sub-sequence", 0, 2, 0);
	trans[0][13]	= settr(12,0,14,27,27,"seen = word[cell]", 1, 2, 0);
	trans[0][13]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][14]	= settr(13,0,33,28,28,"seen_key = key[cell]", 1, 2, 0);
	trans[0][14]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][33] = settr(32,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(32,2,15,0,0,"ATOMIC", 1, 2, 0);
	trans[0][15]	= settr(14,2,31,29,29,"phase = ((seen>>5)&7)", 1, 2, 0);
	trans[0][15]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][31] = settr(30,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(30,2,16,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(30,2,30,0,0,"IF", 1, 2, 0);
	trans[0][16]	= settr(15,2,28,30,0,"((((phase==1)||(phase==2))&&(generation[((seen>>3)&3)]!=(seen&7))))", 1, 2, 0);
	trans[0][16]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][28] = settr(27,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(27,2,17,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(27,2,19,0,0,"IF", 1, 2, 0);
	trans[0][17]	= settr(16,2,18,31,31,"(((phase==1)||(((seen>>10)&15)==0)))", 1, 2, 0);
	trans[0][17]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][18]	= settr(17,2,29,32,32,"phase = 0", 1, 2, 0);
	trans[0][18]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][29]	= settr(28,2,32,1,0,".(goto)", 1, 2, 0);
	trans[0][19]	= settr(18,2,26,2,0,"else", 1, 2, 0);
	trans[0][19]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][26] = settr(25,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(25,2,20,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(25,2,22,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(25,2,24,0,0,"IF", 1, 2, 0);
	trans[0][20]	= settr(19,2,21,33,0,"(((seen>>8)&1))", 1, 2, 0);
	trans[0][20]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][21]	= settr(20,2,29,34,34,"phase = 3", 1, 2, 0);
	trans[0][21]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][27]	= settr(26,2,29,1,0,".(goto)", 1, 2, 0);
	trans[0][22]	= settr(21,2,23,35,0,"((!(((seen>>8)&1))&&((seen>>9)&1)))", 1, 2, 0);
	trans[0][22]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][23]	= settr(22,2,29,36,36,"phase = ( ((0==3)) -> (3) : (4) )", 1, 2, 0);
	trans[0][23]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][24]	= settr(23,2,25,2,0,"else", 1, 2, 0);
	trans[0][24]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][25]	= settr(24,2,29,37,37,"phase = 3", 1, 2, 0);
	trans[0][25]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][32]	= settr(31,0,34,1,0,".(goto)", 1, 2, 0);
	trans[0][30]	= settr(29,2,32,2,0,"else", 1, 2, 0);
	trans[0][30]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][34]	= settr(33,0,67,38,38,"same = (word[cell]==seen)", 1, 2, 0);
	trans[0][34]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][67] = settr(66,2,0,0,0,"ATOMIC", 0, 2, 0);
	T->nxt	= settr(66,2,60,0,0,"ATOMIC", 0, 2, 0);
	T = trans[0][60] = settr(59,2,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(59,2,36,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(59,2,39,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(59,2,59,0,0,"IF", 0, 2, 0);
	trans[0][36]	= settr(35,2,37,39,39,"(!(same))", 0, 2, 0);
	trans[0][36]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][37]	= settr(36,2,38,40,40,"found = 6", 0, 2, 0);
	trans[0][37]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][38]	= settr(37,2,62,41,41,"cell = 2", 0, 2, 0);
	trans[0][38]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][61]	= settr(60,2,62,1,0,".(goto)", 0, 2, 0);
	trans[0][39]	= settr(38,2,40,42,42,"((same&&seen_key))", 0, 2, 0);
	trans[0][39]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][40]	= settr(39,2,50,43,43,"finding = 0", 0, 2, 0);
	trans[0][40]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][50] = settr(49,2,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(49,2,41,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(49,2,42,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(49,2,44,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(49,2,46,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(49,2,48,0,0,"IF", 0, 2, 0);
	trans[0][41]	= settr(40,2,57,44,44,"((phase==0))", 0, 2, 0);
	trans[0][41]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][51]	= settr(50,2,57,1,0,".(goto)", 0, 2, 0);
	trans[0][42]	= settr(41,2,43,45,45,"((phase==1))", 0, 2, 0);
	trans[0][42]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][43]	= settr(42,2,57,46,46,"finding = 5", 0, 2, 0);
	trans[0][43]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][44]	= settr(43,2,45,47,47,"((phase==2))", 0, 2, 0);
	trans[0][44]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][45]	= settr(44,2,57,48,48,"finding = 3", 0, 2, 0);
	trans[0][45]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][46]	= settr(45,2,47,49,49,"((phase==4))", 0, 2, 0);
	trans[0][46]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][47]	= settr(46,2,57,50,50,"finding = 4", 0, 2, 0);
	trans[0][47]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][48]	= settr(47,2,49,51,51,"((phase==3))", 0, 2, 0);
	trans[0][48]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][49]	= settr(48,2,57,52,52,"finding = ( ((((seen>>10)&15)<2)) -> (2) : (1) )", 0, 2, 0);
	trans[0][49]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][57] = settr(56,2,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(56,2,52,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(56,2,56,0,0,"IF", 0, 2, 0);
	trans[0][52]	= settr(51,2,53,53,53,"((finding>found))", 0, 2, 0);
	trans[0][52]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][53]	= settr(52,2,54,54,54,"found = finding", 0, 2, 0);
	trans[0][53]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][54]	= settr(53,2,55,55,55,"best = seen", 0, 2, 0);
	trans[0][54]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][55]	= settr(54,2,62,56,56,"best_cell = cell", 0, 2, 0);
	trans[0][55]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][58]	= settr(57,2,62,1,0,".(goto)", 0, 2, 0);
	trans[0][56]	= settr(55,2,62,2,0,"else", 0, 2, 0);
	trans[0][56]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][59]	= settr(58,2,62,2,0,"else", 0, 2, 0);
	trans[0][59]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][62]	= settr(61,2,63,57,57,"phase = 0", 0, 2, 0);
	trans[0][62]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][63]	= settr(62,2,64,58,58,"seen_key = 0", 0, 2, 0);
	trans[0][63]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][64]	= settr(63,2,65,59,59,"finding = 0", 0, 2, 0);
	trans[0][64]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][65]	= settr(64,2,66,60,60,"same = 0", 0, 2, 0);
	trans[0][65]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][66]	= settr(65,0,71,61,61,"seen = 0", 0, 2, 0);
	trans[0][66]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][70]	= settr(69,0,71,1,0,".(goto)", 0, 2, 0);
	trans[0][68]	= settr(67,0,71,2,0,"else", 0, 2, 0);
	trans[0][68]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][71]	= settr(70,0,74,62,62,"cell = (cell+1)", 0, 2, 0);
	trans[0][71]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][72]	= settr(71,0,77,2,0,"else", 0, 2, 0);
	trans[0][72]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][73]	= settr(72,0,77,1,0,"goto :b2", 0, 2, 0);
	trans[0][73]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][76]	= settr(75,0,77,1,0,"break", 0, 2, 0);
	trans[0][76]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][77]	= settr(76,0,210,63,63,"cell = 0", 0, 2, 0);
	trans[0][77]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][210] = settr(209,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(209,0,79,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(209,0,80,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(209,0,107,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(209,0,208,0,0,"IF", 0, 2, 0);
	trans[0][79]	= settr(78,0,212,64,64,"(((found==6)||(found==5)))", 0, 2, 0);
	trans[0][79]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][211]	= settr(210,0,212,1,0,".(goto)", 0, 2, 0);
	trans[0][80]	= settr(79,0,106,65,65,"((found==2))", 0, 2, 0);
	trans[0][80]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][106] = settr(105,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(105,0,105,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 0][105] = settr(104,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(104,2,103,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][103] = settr(102,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(102,2,81,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(102,2,101,0,0,"IF", 1, 2, 0);
	trans[0][81]	= settr(80,2,82,66,0,"(((word[best_cell]==best)||(0==2)))", 1, 2, 0);
	trans[0][81]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][82]	= settr(81,2,83,67,67,"epoch = ((best>>14)+1)", 1, 2, 0);
	trans[0][82]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][83]	= settr(82,2,84,68,68,"word[best_cell] = (((((((epoch<<14)|(((best>>10)&15)<<10))|(0<<9))|(0<<8))|(2<<5))|(me<<3))|stamp)", 1, 2, 0);
	trans[0][83]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][84]	= settr(83,2,85,69,69,"holds[me] = (best_cell+1)", 1, 2, 0);
	trans[0][84]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][85]	= settr(84,2,89,70,70,"got = 1", 1, 2, 0);
	trans[0][85]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][89] = settr(88,0,0,0,0,"sub-sequence", 1, 2, 0);
	T->nxt	= settr(88,0,86,0,0,"sub-sequence", 1, 2, 0);
	trans[0][86]	= settr(85,2,87,71,0,"assert((((word[best_cell]>>10)&15)==(charged-given_back)))", 1, 2, 0);
	trans[0][86]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][87]	= settr(86,2,88,72,0,"assert((((word[best_cell]>>10)&15)>=(written-unrecorded)))", 1, 2, 0);
	trans[0][87]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][88]	= settr(87,2,100,73,0,"assert(((charged-given_back)<=2))", 1, 2, 0);
	trans[0][88]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][100] = settr(99,0,0,0,0,"sub-sequence", 1, 2, 0);
	T->nxt	= settr(99,0,90,0,0,"sub-sequence", 1, 2, 0);
	trans[0][90]	= settr(89,2,96,74,74,"i = 0", 1, 2, 0);
	trans[0][90]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][97]	= settr(96,2,96,1,0,".(goto)", 1, 2, 0);
	T = trans[0][96] = settr(95,2,0,0,0,"DO", 1, 2, 0);
	T = T->nxt	= settr(95,2,91,0,0,"DO", 1, 2, 0);
	    T->nxt	= settr(95,2,94,0,0,"DO", 1, 2, 0);
	trans[0][91]	= settr(90,2,92,75,0,"((i<2))", 1, 2, 0);
	trans[0][91]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][92]	= settr(91,2,93,76,0,"assert((((i==me)||(holds[i]==0))||killed[i]))", 1, 2, 0);
	trans[0][92]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][93]	= settr(92,2,96,77,77,"i = (i+1)", 1, 2, 0);
	trans[0][93]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][94]	= settr(93,2,99,2,0,"else", 1, 2, 0);
	trans[0][94]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][95]	= settr(94,2,99,1,0,"goto :b3", 1, 2, 0);
	trans[0][95]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][98]	= settr(97,2,99,1,0,"break", 1, 2, 0);
	trans[0][98]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][99]	= settr(98,2,104,78,78,"i = 0", 1, 2, 0);
	trans[0][99]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][104]	= settr(103,0,212,1,0,".(goto)", 1, 2, 0);
	trans[0][101]	= settr(100,2,102,2,0,"else", 1, 2, 0);
	trans[0][101]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][102]	= settr(101,2,104,79,79,"got = 0", 1, 2, 0);
	trans[0][102]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][107]	= settr(106,0,145,80,80,"((found==0))", 0, 2, 0);
	trans[0][107]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][145] = settr(144,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(144,0,112,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 0][112] = settr(111,2,0,0,0,"ATOMIC", 0, 2, 0);
	T->nxt	= settr(111,2,110,0,0,"ATOMIC", 0, 2, 0);
	T = trans[0][110] = settr(109,2,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(109,2,108,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(109,2,109,0,0,"IF", 0, 2, 0);
	trans[0][108]	= settr(107,2,111,81,81,"cell = 0", 0, 2, 0);
	trans[0][108]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][111]	= settr(110,0,135,1,0,".(goto)", 0, 2, 0);
	trans[0][109]	= settr(108,2,111,82,82,"cell = 1", 0, 2, 0);
	trans[0][109]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][135] = settr(134,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(134,0,113,0,0,"sub-sequence", 0, 2, 0);
	trans[0][113]	= settr(112,0,114,83,83,"seen = word[cell]", 1, 2, 0);
	trans[0][113]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][114]	= settr(113,0,133,84,84,"seen_key = key[cell]", 1, 2, 0);
	trans[0][114]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][133] = settr(132,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(132,2,115,0,0,"ATOMIC", 1, 2, 0);
	trans[0][115]	= settr(114,2,131,85,85,"phase = ((seen>>5)&7)", 1, 2, 0);
	trans[0][115]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][131] = settr(130,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(130,2,116,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(130,2,130,0,0,"IF", 1, 2, 0);
	trans[0][116]	= settr(115,2,128,86,0,"((((phase==1)||(phase==2))&&(generation[((seen>>3)&3)]!=(seen&7))))", 1, 2, 0);
	trans[0][116]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][128] = settr(127,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(127,2,117,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(127,2,119,0,0,"IF", 1, 2, 0);
	trans[0][117]	= settr(116,2,118,87,87,"(((phase==1)||(((seen>>10)&15)==0)))", 1, 2, 0);
	trans[0][117]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][118]	= settr(117,2,129,88,88,"phase = 0", 1, 2, 0);
	trans[0][118]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][129]	= settr(128,2,132,1,0,".(goto)", 1, 2, 0);
	trans[0][119]	= settr(118,2,126,2,0,"else", 1, 2, 0);
	trans[0][119]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][126] = settr(125,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(125,2,120,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(125,2,122,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(125,2,124,0,0,"IF", 1, 2, 0);
	trans[0][120]	= settr(119,2,121,89,0,"(((seen>>8)&1))", 1, 2, 0);
	trans[0][120]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][121]	= settr(120,2,129,90,90,"phase = 3", 1, 2, 0);
	trans[0][121]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][127]	= settr(126,2,129,1,0,".(goto)", 1, 2, 0);
	trans[0][122]	= settr(121,2,123,91,0,"((!(((seen>>8)&1))&&((seen>>9)&1)))", 1, 2, 0);
	trans[0][122]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][123]	= settr(122,2,129,92,92,"phase = ( ((0==3)) -> (3) : (4) )", 1, 2, 0);
	trans[0][123]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][124]	= settr(123,2,125,2,0,"else", 1, 2, 0);
	trans[0][124]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][125]	= settr(124,2,129,93,93,"phase = 3", 1, 2, 0);
	trans[0][125]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][132]	= settr(131,0,134,1,0,".(goto)", 1, 2, 0);
	trans[0][130]	= settr(129,2,132,2,0,"else", 1, 2, 0);
	trans[0][130]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][134]	= settr(133,0,144,94,94,"same = (word[cell]==seen)", 1, 2, 0);
	trans[0][134]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][144] = settr(143,2,0,0,0,"ATOMIC", 0, 2, 0);
	T->nxt	= settr(143,2,136,0,0,"ATOMIC", 0, 2, 0);
	trans[0][136]	= settr(135,2,137,95,95,"best = seen", 0, 2, 0);
	trans[0][136]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][137]	= settr(136,2,138,96,96,"best_cell = cell", 0, 2, 0);
	trans[0][137]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][138]	= settr(137,2,139,97,97,"room = (same&&(phase==0))", 0, 2, 0);
	trans[0][138]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][139]	= settr(138,2,140,98,98,"phase = 0", 0, 2, 0);
	trans[0][139]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][140]	= settr(139,2,141,99,99,"seen_key = 0", 0, 2, 0);
	trans[0][140]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][141]	= settr(140,2,142,100,100,"same = 0", 0, 2, 0);
	trans[0][141]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][142]	= settr(141,2,143,101,101,"seen = 0", 0, 2, 0);
	trans[0][142]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][143]	= settr(142,0,206,102,102,"cell = 0", 0, 2, 0);
	trans[0][143]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][206] = settr(205,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(205,0,146,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(205,0,205,0,0,"IF", 0, 2, 0);
	trans[0][146]	= settr(145,0,204,103,103,"(room)", 0, 2, 0);
	trans[0][146]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][204] = settr(203,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(203,0,156,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 0][156] = settr(155,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(155,2,154,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][154] = settr(153,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(153,2,147,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(153,2,152,0,0,"IF", 1, 2, 0);
	trans[0][147]	= settr(146,2,148,104,0,"((word[best_cell]==best))", 1, 2, 0);
	trans[0][147]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][148]	= settr(147,2,149,105,105,"epoch = ((best>>14)+1)", 1, 2, 0);
	trans[0][148]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][149]	= settr(148,2,150,106,106,"mine = (((((((epoch<<14)|(0<<10))|(0<<9))|(0<<8))|(1<<5))|(me<<3))|stamp)", 1, 2, 0);
	trans[0][149]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][150]	= settr(149,2,151,107,107,"word[best_cell] = mine", 1, 2, 0);
	trans[0][150]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][151]	= settr(150,2,155,108,108,"got = 1", 1, 2, 0);
	trans[0][151]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][155]	= settr(154,0,202,1,0,".(goto)", 1, 2, 0);
	trans[0][152]	= settr(151,2,153,2,0,"else", 1, 2, 0);
	trans[0][152]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][153]	= settr(152,2,155,109,109,"got = 0", 1, 2, 0);
	trans[0][153]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][202] = settr(201,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(201,0,157,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(201,0,201,0,0,"IF", 0, 2, 0);
	trans[0][157]	= settr(156,0,158,110,0,"(got)", 0, 2, 0);
	trans[0][157]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][158]	= settr(157,0,159,111,111,"key[best_cell] = 1", 1, 2, 0);
	trans[0][158]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][159]	= settr(158,0,166,112,112,"tag[best_cell] = 1", 1, 2, 0);
	trans[0][159]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][166] = settr(165,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(165,2,164,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][164] = settr(163,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(163,2,160,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(163,2,162,0,0,"IF", 1, 2, 0);
	trans[0][160]	= settr(159,2,161,113,113,"(((inserts==noted)||(0==1)))", 1, 2, 0);
	trans[0][160]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][161]	= settr(160,2,165,114,114,"inserts = (inserts+1)", 1, 2, 0);
	trans[0][161]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][165]	= settr(164,0,199,1,0,".(goto)", 1, 2, 0);
	trans[0][162]	= settr(161,2,163,2,0,"else", 1, 2, 0);
	trans[0][162]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][163]	= settr(162,2,165,115,115,"got = 0", 1, 2, 0);
	trans[0][163]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][199] = settr(198,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(198,0,167,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(198,0,191,0,0,"IF", 0, 2, 0);
	trans[0][167]	= settr(166,0,190,116,0,"(got)", 0, 2, 0);
	trans[0][167]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][190] = settr(189,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(189,2,188,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][188] = settr(187,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(187,2,168,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(187,2,186,0,0,"IF", 1, 2, 0);
	trans[0][168]	= settr(167,2,169,117,0,"((word[best_cell]==mine))", 1, 2, 0);
	trans[0][168]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][169]	= settr(168,2,170,118,118,"word[best_cell] = ((((((((mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(2<<5))|(me<<3))|stamp)", 1, 2, 0);
	trans[0][169]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][170]	= settr(169,2,174,119,119,"holds[me] = (best_cell+1)", 1, 2, 0);
	trans[0][170]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][174] = settr(173,0,0,0,0,"sub-sequence", 1, 2, 0);
	T->nxt	= settr(173,0,171,0,0,"sub-sequence", 1, 2, 0);
	trans[0][171]	= settr(170,2,172,120,0,"assert((((word[best_cell]>>10)&15)==(charged-given_back)))", 1, 2, 0);
	trans[0][171]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][172]	= settr(171,2,173,121,0,"assert((((word[best_cell]>>10)&15)>=(written-unrecorded)))", 1, 2, 0);
	trans[0][172]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][173]	= settr(172,2,185,122,0,"assert(((charged-given_back)<=2))", 1, 2, 0);
	trans[0][173]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][185] = settr(184,0,0,0,0,"sub-sequence", 1, 2, 0);
	T->nxt	= settr(184,0,175,0,0,"sub-sequence", 1, 2, 0);
	trans[0][175]	= settr(174,2,181,123,123,"i = 0", 1, 2, 0);
	trans[0][175]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][182]	= settr(181,2,181,1,0,".(goto)", 1, 2, 0);
	T = trans[0][181] = settr(180,2,0,0,0,"DO", 1, 2, 0);
	T = T->nxt	= settr(180,2,176,0,0,"DO", 1, 2, 0);
	    T->nxt	= settr(180,2,179,0,0,"DO", 1, 2, 0);
	trans[0][176]	= settr(175,2,177,124,0,"((i<2))", 1, 2, 0);
	trans[0][176]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][177]	= settr(176,2,178,125,0,"assert((((i==me)||(holds[i]==0))||killed[i]))", 1, 2, 0);
	trans[0][177]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][178]	= settr(177,2,181,126,126,"i = (i+1)", 1, 2, 0);
	trans[0][178]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][179]	= settr(178,2,184,2,0,"else", 1, 2, 0);
	trans[0][179]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][180]	= settr(179,2,184,1,0,"goto :b4", 1, 2, 0);
	trans[0][180]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][183]	= settr(182,2,184,1,0,"break", 1, 2, 0);
	trans[0][183]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][184]	= settr(183,2,189,127,127,"i = 0", 1, 2, 0);
	trans[0][184]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][189]	= settr(188,0,212,1,0,".(goto)", 1, 2, 0);
	trans[0][186]	= settr(185,2,187,2,0,"else", 1, 2, 0);
	trans[0][186]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][187]	= settr(186,2,189,128,128,"got = 0", 1, 2, 0);
	trans[0][187]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][200]	= settr(199,0,212,1,0,".(goto)", 0, 2, 0);
	trans[0][191]	= settr(190,0,192,2,0,"else", 0, 2, 0);
	trans[0][191]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][192]	= settr(191,0,198,129,129,"tag[best_cell] = 0", 1, 2, 0);
	trans[0][192]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][198] = settr(197,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(197,2,196,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][196] = settr(195,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(195,2,193,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(195,2,195,0,0,"IF", 1, 2, 0);
	trans[0][193]	= settr(192,2,194,130,0,"((word[best_cell]==mine))", 1, 2, 0);
	trans[0][193]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][194]	= settr(193,2,197,131,131,"word[best_cell] = ((((((((mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(0<<5))|(me<<3))|stamp)", 1, 2, 0);
	trans[0][194]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][197]	= settr(196,0,212,1,0,".(goto)", 1, 2, 0);
	trans[0][195]	= settr(194,2,197,2,0,"else", 1, 2, 0);
	trans[0][195]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][203]	= settr(202,0,212,1,0,".(goto)", 0, 2, 0);
	trans[0][201]	= settr(200,0,212,2,0,"else", 0, 2, 0);
	trans[0][201]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][207]	= settr(206,0,212,1,0,".(goto)", 0, 2, 0);
	trans[0][205]	= settr(204,0,212,2,0,"else", 0, 2, 0);
	trans[0][205]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][208]	= settr(207,0,209,2,0,"else", 0, 2, 0);
	trans[0][208]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][209]	= settr(208,0,212,132,132,"tries = (2-1)", 0, 2, 0);
	trans[0][209]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][212]	= settr(211,0,215,133,133,"tries = (tries+1)", 0, 2, 0);
	trans[0][212]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][213]	= settr(212,0,226,2,0,"else", 0, 2, 0);
	trans[0][213]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][214]	= settr(213,0,226,1,0,"goto :b1", 0, 2, 0);
	trans[0][214]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][217]	= settr(216,0,226,1,0,"break", 0, 2, 0);
	trans[0][217]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][226] = settr(225,2,0,0,0,"ATOMIC", 0, 2, 0);
	T->nxt	= settr(225,2,218,0,0,"ATOMIC", 0, 2, 0);
	trans[0][218]	= settr(217,2,219,134,134,"cell = best_cell", 0, 2, 0);
	trans[0][218]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][219]	= settr(218,2,220,135,135,"best = 0", 0, 2, 0);
	trans[0][219]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][220]	= settr(219,2,221,136,136,"best_cell = 0", 0, 2, 0);
	trans[0][220]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][221]	= settr(220,2,222,137,137,"found = 0", 0, 2, 0);
	trans[0][221]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][222]	= settr(221,2,223,138,138,"room = 0", 0, 2, 0);
	trans[0][222]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][223]	= settr(222,2,224,139,139,"noted = 0", 0, 2, 0);
	trans[0][223]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][224]	= settr(223,2,225,140,140,"tries = 0", 0, 2, 0);
	trans[0][224]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][225]	= settr(224,0,623,141,141,"mine = 0", 0, 2, 0);
	trans[0][225]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][623] = settr(622,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(622,0,228,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(622,0,620,0,0,"IF", 0, 2, 0);
	trans[0][228]	= settr(227,0,229,142,0,"(got)", 0, 2, 0);
	trans[0][228]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][229]	= settr(228,0,617,143,143,"recorded = 1", 0, 2, 0);
	trans[0][229]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][618]	= settr(617,0,617,1,0,".(goto)", 0, 2, 0);
	T = trans[0][617] = settr(616,0,0,0,0,"DO", 0, 2, 0);
	    T->nxt	= settr(616,0,230,0,0,"DO", 0, 2, 0);
	trans[0][230]	= settr(229,0,275,1,0,"(1)", 0, 2, 0);
	trans[0][230]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][275] = settr(274,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(274,0,265,0,0,"sub-sequence", 0, 2, 0);
	T = trans[0][265] = settr(264,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(264,0,231,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(264,0,264,0,0,"IF", 0, 2, 0);
	trans[0][231]	= settr(230,0,232,144,0,"(recorded)", 0, 2, 0);
	trans[0][231]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][232]	= settr(231,0,240,145,145,"got = (generation[me]==stamp)", 1, 2, 0);
	trans[0][232]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][240] = settr(239,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(239,0,233,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(239,0,239,0,0,"IF", 0, 2, 0);
	trans[0][233]	= settr(232,0,238,146,146,"(got)", 0, 2, 0);
	trans[0][233]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][238] = settr(237,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(237,0,237,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 0][237] = settr(236,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(236,2,234,0,0,"ATOMIC", 1, 2, 0);
	trans[0][234]	= settr(233,2,235,147,147,"mine = word[cell]", 1, 2, 0);
	trans[0][234]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][235]	= settr(234,2,236,148,148,"got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))", 1, 2, 0);
	trans[0][235]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][236]	= settr(235,0,262,149,0,"assert(got)", 1, 2, 0);
	trans[0][236]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][241]	= settr(240,0,262,1,0,".(goto)", 0, 2, 0);
	trans[0][239]	= settr(238,0,262,2,0,"else", 0, 2, 0);
	trans[0][239]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][262] = settr(261,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(261,0,242,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(261,0,257,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(261,0,259,0,0,"IF", 0, 2, 0);
	trans[0][242]	= settr(241,0,256,150,0,"((got&&(((mine>>10)&15)<2)))", 0, 2, 0);
	trans[0][242]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][256] = settr(255,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(255,2,254,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][254] = settr(253,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(253,2,243,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(253,2,250,0,0,"IF", 1, 2, 0);
	trans[0][243]	= settr(242,2,244,151,0,"((word[cell]==mine))", 1, 2, 0);
	trans[0][243]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][244]	= settr(243,2,245,152,152,"word[cell] = ((((((((mine>>14)<<14)|((((mine>>10)&15)+1)<<10))|(1<<9))|(((mine>>8)&1)<<8))|(2<<5))|(me<<3))|stamp)", 1, 2, 0);
	trans[0][244]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][245]	= settr(244,2,249,153,153,"charged = (charged+1)", 1, 2, 0);
	trans[0][245]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][249] = settr(248,0,0,0,0,"sub-sequence", 1, 2, 0);
	T->nxt	= settr(248,0,246,0,0,"sub-sequence", 1, 2, 0);
	trans[0][246]	= settr(245,2,247,154,0,"assert((((word[cell]>>10)&15)==(charged-given_back)))", 1, 2, 0);
	trans[0][246]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][247]	= settr(246,2,248,155,0,"assert((((word[cell]>>10)&15)>=(written-unrecorded)))", 1, 2, 0);
	trans[0][247]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][248]	= settr(247,2,255,156,0,"assert(((charged-given_back)<=2))", 1, 2, 0);
	trans[0][248]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][255]	= settr(254,0,271,1,0,".(goto)", 1, 2, 0);
	trans[0][250]	= settr(249,2,251,2,0,"else", 1, 2, 0);
	trans[0][250]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][251]	= settr(250,2,252,157,157,"got = 0", 1, 2, 0);
	trans[0][251]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][252]	= settr(251,2,253,158,158,"recorded = 0", 1, 2, 0);
	trans[0][252]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][253]	= settr(252,2,255,159,159,"holds[me] = 0", 1, 2, 0);
	trans[0][253]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][263]	= settr(262,0,271,1,0,".(goto)", 0, 2, 0);
	trans[0][257]	= settr(256,0,258,160,160,"((got&&(((mine>>10)&15)>=2)))", 0, 2, 0);
	trans[0][257]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][258]	= settr(257,0,271,161,161,"got = 0", 0, 2, 0);
	trans[0][258]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][259]	= settr(258,0,260,2,0,"else", 0, 2, 0);
	trans[0][259]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][260]	= settr(259,0,261,162,162,"recorded = 0", 0, 2, 0);
	trans[0][260]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][261]	= settr(260,0,271,163,163,"holds[me] = 0", 1, 2, 0);
	trans[0][261]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][266]	= settr(265,0,271,1,0,".(goto)", 0, 2, 0);
	trans[0][264]	= settr(263,0,271,2,0,"else", 0, 2, 0);
	trans[0][264]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][271] = settr(270,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(270,0,267,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(270,0,270,0,0,"IF", 0, 2, 0);
	trans[0][267]	= settr(266,0,268,164,0,"((!(recorded)&&!(sent)))", 0, 2, 0);
	trans[0][267]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][268]	= settr(267,0,269,165,165,"got = 1", 0, 2, 0);
	trans[0][268]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][269]	= settr(268,0,273,166,166,"unrecorded = (unrecorded+1)", 1, 2, 0);
	trans[0][269]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][272]	= settr(271,0,273,1,0,".(goto)", 0, 2, 0);
	trans[0][270]	= settr(269,0,273,2,0,"else", 0, 2, 0);
	trans[0][270]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][273]	= settr(272,0,274,167,167,"sent = (sent||got)", 0, 2, 0);
	trans[0][273]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][274]	= settr(273,0,615,168,168,"mine = 0", 0, 2, 0);
	trans[0][274]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][615] = settr(614,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(614,0,276,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(614,0,317,0,0,"IF", 0, 2, 0);
	trans[0][276]	= settr(275,0,315,169,169,"(!(got))", 0, 2, 0);
	trans[0][276]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][315] = settr(314,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(314,0,305,0,0,"sub-sequence", 0, 2, 0);
	T = trans[0][305] = settr(304,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(304,0,277,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(304,0,304,0,0,"IF", 0, 2, 0);
	trans[0][277]	= settr(276,0,282,170,0,"(recorded)", 0, 2, 0);
	trans[0][277]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][282] = settr(281,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(281,0,281,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 0][281] = settr(280,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(280,2,278,0,0,"ATOMIC", 1, 2, 0);
	trans[0][278]	= settr(277,2,279,171,171,"mine = word[cell]", 1, 2, 0);
	trans[0][278]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][279]	= settr(278,2,280,172,172,"got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))", 1, 2, 0);
	trans[0][279]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][280]	= settr(279,0,302,173,0,"assert(got)", 1, 2, 0);
	trans[0][280]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][302] = settr(301,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(301,0,283,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(301,0,292,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(301,0,300,0,0,"IF", 0, 2, 0);
	trans[0][283]	= settr(282,0,284,174,174,"((got&&(((mine>>10)&15)==0)))", 0, 2, 0);
	trans[0][283]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][284]	= settr(283,0,291,175,175,"tag[cell] = 0", 1, 2, 0);
	trans[0][284]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][291] = settr(290,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(290,2,288,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][288] = settr(287,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(287,2,285,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(287,2,287,0,0,"IF", 1, 2, 0);
	trans[0][285]	= settr(284,2,286,176,0,"((word[cell]==mine))", 1, 2, 0);
	trans[0][285]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][286]	= settr(285,2,289,177,177,"word[cell] = ((((((((mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(0<<5))|(me<<3))|stamp)", 1, 2, 0);
	trans[0][286]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][289]	= settr(288,2,290,1,0,".(goto)", 1, 2, 0);
	trans[0][287]	= settr(286,2,289,2,0,"else", 1, 2, 0);
	trans[0][287]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][290]	= settr(289,0,314,178,178,"holds[me] = 0", 1, 2, 0);
	trans[0][290]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][303]	= settr(302,0,314,1,0,".(goto)", 0, 2, 0);
	trans[0][292]	= settr(291,0,299,179,179,"((got&&(((mine>>10)&15)>0)))", 0, 2, 0);
	trans[0][292]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][299] = settr(298,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(298,2,296,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][296] = settr(295,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(295,2,293,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(295,2,295,0,0,"IF", 1, 2, 0);
	trans[0][293]	= settr(292,2,294,180,0,"((word[cell]==mine))", 1, 2, 0);
	trans[0][293]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][294]	= settr(293,2,297,181,181,"word[cell] = ((((((((mine>>14)<<14)|(((mine>>10)&15)<<10))|(0<<9))|(0<<8))|(3<<5))|(me<<3))|stamp)", 1, 2, 0);
	trans[0][294]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][297]	= settr(296,2,298,1,0,".(goto)", 1, 2, 0);
	trans[0][295]	= settr(294,2,297,2,0,"else", 1, 2, 0);
	trans[0][295]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][298]	= settr(297,0,314,182,182,"holds[me] = 0", 1, 2, 0);
	trans[0][298]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][300]	= settr(299,0,301,2,0,"else", 0, 2, 0);
	trans[0][300]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][301]	= settr(300,0,314,183,183,"holds[me] = 0", 1, 2, 0);
	trans[0][301]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][306]	= settr(305,0,314,1,0,".(goto)", 0, 2, 0);
	trans[0][304]	= settr(303,0,314,2,0,"else", 0, 2, 0);
	trans[0][304]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][314] = settr(313,2,0,0,0,"ATOMIC", 0, 2, 0);
	T->nxt	= settr(313,2,307,0,0,"ATOMIC", 0, 2, 0);
	trans[0][307]	= settr(306,2,308,184,184,"mine = 0", 0, 2, 0);
	trans[0][307]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][308]	= settr(307,2,309,185,185,"wrote = 0", 0, 2, 0);
	trans[0][308]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][309]	= settr(308,2,310,186,186,"recorded = 0", 0, 2, 0);
	trans[0][309]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][310]	= settr(309,2,311,187,187,"sent = 0", 0, 2, 0);
	trans[0][310]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][311]	= settr(310,2,312,188,188,"cell = 0", 0, 2, 0);
	trans[0][311]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][312]	= settr(311,2,313,189,189,"epoch = 0", 0, 2, 0);
	trans[0][312]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][313]	= settr(312,0,628,190,190,"got = 0", 0, 2, 0);
	trans[0][313]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][316]	= settr(315,0,628,1,0,"goto :b5", 0, 2, 0);
	trans[0][316]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][616]	= settr(615,0,617,1,0,".(goto)", 0, 2, 0);
	trans[0][317]	= settr(316,0,613,191,0,"(got)", 0, 2, 0);
	trans[0][317]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][613] = settr(612,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(612,0,318,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(612,0,422,0,0,"IF", 0, 2, 0);
	trans[0][318]	= settr(317,0,347,1,0,"(1)", 0, 2, 0);
	trans[0][318]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][347] = settr(346,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(346,0,344,0,0,"sub-sequence", 0, 2, 0);
	T = trans[0][344] = settr(343,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(343,0,319,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(343,0,341,0,0,"IF", 0, 2, 0);
	trans[0][319]	= settr(318,0,324,192,0,"(recorded)", 0, 2, 0);
	trans[0][319]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][324] = settr(323,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(323,0,323,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 0][323] = settr(322,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(322,2,320,0,0,"ATOMIC", 1, 2, 0);
	trans[0][320]	= settr(319,2,321,193,193,"mine = word[cell]", 1, 2, 0);
	trans[0][320]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][321]	= settr(320,2,322,194,194,"got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))", 1, 2, 0);
	trans[0][321]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][322]	= settr(321,0,339,195,0,"assert(got)", 1, 2, 0);
	trans[0][322]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][339] = settr(338,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(338,0,325,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(338,0,338,0,0,"IF", 0, 2, 0);
	trans[0][325]	= settr(324,0,337,196,0,"((got&&((((mine>>9)&1)&&(((mine>>10)&15)>0))||(0==4))))", 0, 2, 0);
	trans[0][325]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][337] = settr(336,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(336,2,335,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][335] = settr(334,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(334,2,326,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(334,2,334,0,0,"IF", 1, 2, 0);
	trans[0][326]	= settr(325,2,327,197,0,"(((word[cell]==mine)||(0==6)))", 1, 2, 0);
	trans[0][326]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][327]	= settr(326,2,328,198,198,"word[cell] = ((((((((mine>>14)<<14)|((((mine>>10)&15)-1)<<10))|(0<<9))|(((mine>>8)&1)<<8))|(2<<5))|(me<<3))|stamp)", 1, 2, 0);
	trans[0][327]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][328]	= settr(327,2,329,199,199,"given_back = (given_back+1)", 1, 2, 0);
	trans[0][328]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][329]	= settr(328,2,333,200,0,"assert((given_back<=charged))", 1, 2, 0);
	trans[0][329]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][333] = settr(332,0,0,0,0,"sub-sequence", 1, 2, 0);
	T->nxt	= settr(332,0,330,0,0,"sub-sequence", 1, 2, 0);
	trans[0][330]	= settr(329,2,331,201,0,"assert((((word[cell]>>10)&15)==(charged-given_back)))", 1, 2, 0);
	trans[0][330]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][331]	= settr(330,2,332,202,0,"assert((((word[cell]>>10)&15)>=(written-unrecorded)))", 1, 2, 0);
	trans[0][331]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][332]	= settr(331,2,336,203,0,"assert(((charged-given_back)<=2))", 1, 2, 0);
	trans[0][332]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][336]	= settr(335,0,346,1,0,".(goto)", 1, 2, 0);
	trans[0][334]	= settr(333,2,336,2,0,"else", 1, 2, 0);
	trans[0][334]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][340]	= settr(339,0,346,1,0,".(goto)", 0, 2, 0);
	trans[0][338]	= settr(337,0,346,2,0,"else", 0, 2, 0);
	trans[0][338]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][345]	= settr(344,0,346,1,0,".(goto)", 0, 2, 0);
	trans[0][341]	= settr(340,0,342,2,0,"else", 0, 2, 0);
	trans[0][341]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][342]	= settr(341,0,343,204,204,"unrecorded = (unrecorded-1)", 1, 2, 0);
	trans[0][342]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][343]	= settr(342,0,346,205,205,"sent = 0", 0, 2, 0);
	trans[0][343]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][346]	= settr(345,0,420,206,206,"mine = 0", 0, 2, 0);
	trans[0][346]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][420] = settr(419,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(419,0,348,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(419,0,349,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(419,0,379,0,0,"IF", 0, 2, 0);
	trans[0][348]	= settr(347,0,617,1,0,"(1)", 0, 2, 0);
	trans[0][348]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][421]	= settr(420,0,617,1,0,".(goto)", 0, 2, 0);
	trans[0][349]	= settr(348,0,378,207,0,"(recorded)", 0, 2, 0);
	trans[0][349]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][378] = settr(377,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(377,0,375,0,0,"sub-sequence", 0, 2, 0);
	T = trans[0][375] = settr(374,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(374,0,350,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(374,0,372,0,0,"IF", 0, 2, 0);
	trans[0][350]	= settr(349,0,355,208,0,"(recorded)", 0, 2, 0);
	trans[0][350]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][355] = settr(354,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(354,0,354,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 0][354] = settr(353,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(353,2,351,0,0,"ATOMIC", 1, 2, 0);
	trans[0][351]	= settr(350,2,352,209,209,"mine = word[cell]", 1, 2, 0);
	trans[0][351]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][352]	= settr(351,2,353,210,210,"got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))", 1, 2, 0);
	trans[0][352]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][353]	= settr(352,0,370,211,0,"assert(got)", 1, 2, 0);
	trans[0][353]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][370] = settr(369,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(369,0,356,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(369,0,369,0,0,"IF", 0, 2, 0);
	trans[0][356]	= settr(355,0,368,212,0,"((got&&((((mine>>9)&1)&&(((mine>>10)&15)>0))||(0==4))))", 0, 2, 0);
	trans[0][356]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][368] = settr(367,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(367,2,366,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][366] = settr(365,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(365,2,357,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(365,2,365,0,0,"IF", 1, 2, 0);
	trans[0][357]	= settr(356,2,358,213,0,"(((word[cell]==mine)||(0==6)))", 1, 2, 0);
	trans[0][357]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][358]	= settr(357,2,359,214,214,"word[cell] = ((((((((mine>>14)<<14)|((((mine>>10)&15)-1)<<10))|(0<<9))|(((mine>>8)&1)<<8))|(2<<5))|(me<<3))|stamp)", 1, 2, 0);
	trans[0][358]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][359]	= settr(358,2,360,215,215,"given_back = (given_back+1)", 1, 2, 0);
	trans[0][359]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][360]	= settr(359,2,364,216,0,"assert((given_back<=charged))", 1, 2, 0);
	trans[0][360]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][364] = settr(363,0,0,0,0,"sub-sequence", 1, 2, 0);
	T->nxt	= settr(363,0,361,0,0,"sub-sequence", 1, 2, 0);
	trans[0][361]	= settr(360,2,362,217,0,"assert((((word[cell]>>10)&15)==(charged-given_back)))", 1, 2, 0);
	trans[0][361]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][362]	= settr(361,2,363,218,0,"assert((((word[cell]>>10)&15)>=(written-unrecorded)))", 1, 2, 0);
	trans[0][362]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][363]	= settr(362,2,367,219,0,"assert(((charged-given_back)<=2))", 1, 2, 0);
	trans[0][363]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][367]	= settr(366,0,377,1,0,".(goto)", 1, 2, 0);
	trans[0][365]	= settr(364,2,367,2,0,"else", 1, 2, 0);
	trans[0][365]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][371]	= settr(370,0,377,1,0,".(goto)", 0, 2, 0);
	trans[0][369]	= settr(368,0,377,2,0,"else", 0, 2, 0);
	trans[0][369]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][376]	= settr(375,0,377,1,0,".(goto)", 0, 2, 0);
	trans[0][372]	= settr(371,0,373,2,0,"else", 0, 2, 0);
	trans[0][372]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][373]	= settr(372,0,374,220,220,"unrecorded = (unrecorded-1)", 1, 2, 0);
	trans[0][373]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][374]	= settr(373,0,377,221,221,"sent = 0", 0, 2, 0);
	trans[0][374]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][377]	= settr(376,0,617,222,222,"mine = 0", 0, 2, 0);
	trans[0][377]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][379]	= settr(378,0,418,1,0,"(1)", 0, 2, 0);
	trans[0][379]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][418] = settr(417,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(417,0,408,0,0,"sub-sequence", 0, 2, 0);
	T = trans[0][408] = settr(407,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(407,0,380,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(407,0,407,0,0,"IF", 0, 2, 0);
	trans[0][380]	= settr(379,0,385,223,0,"(recorded)", 0, 2, 0);
	trans[0][380]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][385] = settr(384,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(384,0,384,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 0][384] = settr(383,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(383,2,381,0,0,"ATOMIC", 1, 2, 0);
	trans[0][381]	= settr(380,2,382,224,224,"mine = word[cell]", 1, 2, 0);
	trans[0][381]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][382]	= settr(381,2,383,225,225,"got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))", 1, 2, 0);
	trans[0][382]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][383]	= settr(382,0,405,226,0,"assert(got)", 1, 2, 0);
	trans[0][383]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][405] = settr(404,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(404,0,386,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(404,0,395,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(404,0,403,0,0,"IF", 0, 2, 0);
	trans[0][386]	= settr(385,0,387,227,227,"((got&&(((mine>>10)&15)==0)))", 0, 2, 0);
	trans[0][386]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][387]	= settr(386,0,394,228,228,"tag[cell] = 0", 1, 2, 0);
	trans[0][387]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][394] = settr(393,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(393,2,391,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][391] = settr(390,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(390,2,388,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(390,2,390,0,0,"IF", 1, 2, 0);
	trans[0][388]	= settr(387,2,389,229,0,"((word[cell]==mine))", 1, 2, 0);
	trans[0][388]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][389]	= settr(388,2,392,230,230,"word[cell] = ((((((((mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(0<<5))|(me<<3))|stamp)", 1, 2, 0);
	trans[0][389]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][392]	= settr(391,2,393,1,0,".(goto)", 1, 2, 0);
	trans[0][390]	= settr(389,2,392,2,0,"else", 1, 2, 0);
	trans[0][390]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][393]	= settr(392,0,417,231,231,"holds[me] = 0", 1, 2, 0);
	trans[0][393]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][406]	= settr(405,0,417,1,0,".(goto)", 0, 2, 0);
	trans[0][395]	= settr(394,0,402,232,232,"((got&&(((mine>>10)&15)>0)))", 0, 2, 0);
	trans[0][395]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][402] = settr(401,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(401,2,399,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][399] = settr(398,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(398,2,396,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(398,2,398,0,0,"IF", 1, 2, 0);
	trans[0][396]	= settr(395,2,397,233,0,"((word[cell]==mine))", 1, 2, 0);
	trans[0][396]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][397]	= settr(396,2,400,234,234,"word[cell] = ((((((((mine>>14)<<14)|(((mine>>10)&15)<<10))|(0<<9))|(0<<8))|(3<<5))|(me<<3))|stamp)", 1, 2, 0);
	trans[0][397]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][400]	= settr(399,2,401,1,0,".(goto)", 1, 2, 0);
	trans[0][398]	= settr(397,2,400,2,0,"else", 1, 2, 0);
	trans[0][398]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][401]	= settr(400,0,417,235,235,"holds[me] = 0", 1, 2, 0);
	trans[0][401]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][403]	= settr(402,0,404,2,0,"else", 0, 2, 0);
	trans[0][403]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][404]	= settr(403,0,417,236,236,"holds[me] = 0", 1, 2, 0);
	trans[0][404]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][409]	= settr(408,0,417,1,0,".(goto)", 0, 2, 0);
	trans[0][407]	= settr(406,0,417,2,0,"else", 0, 2, 0);
	trans[0][407]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][417] = settr(416,2,0,0,0,"ATOMIC", 0, 2, 0);
	T->nxt	= settr(416,2,410,0,0,"ATOMIC", 0, 2, 0);
	trans[0][410]	= settr(409,2,411,237,237,"mine = 0", 0, 2, 0);
	trans[0][410]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][411]	= settr(410,2,412,238,238,"wrote = 0", 0, 2, 0);
	trans[0][411]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][412]	= settr(411,2,413,239,239,"recorded = 0", 0, 2, 0);
	trans[0][412]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][413]	= settr(412,2,414,240,240,"sent = 0", 0, 2, 0);
	trans[0][413]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][414]	= settr(413,2,415,241,241,"cell = 0", 0, 2, 0);
	trans[0][414]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][415]	= settr(414,2,416,242,242,"epoch = 0", 0, 2, 0);
	trans[0][415]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][416]	= settr(415,0,628,243,243,"got = 0", 0, 2, 0);
	trans[0][416]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][419]	= settr(418,0,628,1,0,"goto :b5", 0, 2, 0);
	trans[0][419]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][614]	= settr(613,0,617,1,0,".(goto)", 0, 2, 0);
	trans[0][422]	= settr(421,0,429,1,0,"(1)", 0, 2, 0);
	trans[0][422]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][429] = settr(428,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(428,0,428,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 0][428] = settr(427,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(427,2,423,0,0,"ATOMIC", 1, 2, 0);
	trans[0][423]	= settr(422,2,424,244,244,"written = (written+1)", 1, 2, 0);
	trans[0][423]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][424]	= settr(423,2,425,245,245,"wrote = 1", 1, 2, 0);
	trans[0][424]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][425]	= settr(424,2,426,246,0,"assert((written<=(2+unrecorded)))", 1, 2, 0);
	trans[0][425]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][426]	= settr(425,2,427,247,0,"assert((!(may_have_run)||!(recorded)))", 1, 2, 0);
	trans[0][426]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][427]	= settr(426,0,611,248,0,"assert((!(may_have_run)&&(unrecorded==0)))", 1, 2, 0);
	trans[0][427]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][611] = settr(610,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(610,0,430,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(610,0,450,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(610,0,510,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(610,0,551,0,0,"IF", 0, 2, 0);
	trans[0][430]	= settr(429,0,449,1,0,"(1)", 0, 2, 0);
	trans[0][430]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][449] = settr(448,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(448,0,447,0,0,"sub-sequence", 0, 2, 0);
	T = trans[0][447] = settr(446,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(446,0,431,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(446,0,445,0,0,"IF", 0, 2, 0);
	trans[0][431]	= settr(430,0,436,249,0,"(recorded)", 0, 2, 0);
	trans[0][431]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][436] = settr(435,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(435,0,435,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 0][435] = settr(434,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(434,2,432,0,0,"ATOMIC", 1, 2, 0);
	trans[0][432]	= settr(431,2,433,250,250,"mine = word[cell]", 1, 2, 0);
	trans[0][432]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][433]	= settr(432,2,434,251,251,"got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))", 1, 2, 0);
	trans[0][433]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][434]	= settr(433,0,444,252,0,"assert(got)", 1, 2, 0);
	trans[0][434]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][444] = settr(443,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(443,2,440,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][440] = settr(439,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(439,2,437,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(439,2,439,0,0,"IF", 1, 2, 0);
	trans[0][437]	= settr(436,2,438,253,0,"((got&&(word[cell]==mine)))", 1, 2, 0);
	trans[0][437]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][438]	= settr(437,2,442,254,254,"word[cell] = ((((((((mine>>14)<<14)|(((mine>>10)&15)<<10))|(0<<9))|(0<<8))|(2<<5))|(me<<3))|stamp)", 1, 2, 0);
	trans[0][438]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][441]	= settr(440,2,442,1,0,".(goto)", 1, 2, 0);
	trans[0][439]	= settr(438,2,442,2,0,"else", 1, 2, 0);
	trans[0][439]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][442]	= settr(441,2,443,255,255,"wrote = 0", 1, 2, 0);
	trans[0][442]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][443]	= settr(442,0,617,256,256,"mine = 0", 1, 2, 0);
	trans[0][443]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][448]	= settr(447,0,617,1,0,".(goto)", 0, 2, 0);
	trans[0][445]	= settr(444,0,446,2,0,"else", 0, 2, 0);
	trans[0][445]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][446]	= settr(445,0,617,257,257,"wrote = 0", 0, 2, 0);
	trans[0][446]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][612]	= settr(611,0,617,1,0,".(goto)", 0, 2, 0);
	trans[0][450]	= settr(449,0,469,1,0,"(1)", 0, 2, 0);
	trans[0][450]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][469] = settr(468,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(468,0,467,0,0,"sub-sequence", 0, 2, 0);
	T = trans[0][467] = settr(466,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(466,0,451,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(466,0,465,0,0,"IF", 0, 2, 0);
	trans[0][451]	= settr(450,0,456,258,0,"(recorded)", 0, 2, 0);
	trans[0][451]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][456] = settr(455,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(455,0,455,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 0][455] = settr(454,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(454,2,452,0,0,"ATOMIC", 1, 2, 0);
	trans[0][452]	= settr(451,2,453,259,259,"mine = word[cell]", 1, 2, 0);
	trans[0][452]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][453]	= settr(452,2,454,260,260,"got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))", 1, 2, 0);
	trans[0][453]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][454]	= settr(453,0,464,261,0,"assert(got)", 1, 2, 0);
	trans[0][454]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][464] = settr(463,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(463,2,460,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][460] = settr(459,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(459,2,457,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(459,2,459,0,0,"IF", 1, 2, 0);
	trans[0][457]	= settr(456,2,458,262,262,"((got&&(word[cell]==mine)))", 1, 2, 0);
	trans[0][457]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][458]	= settr(457,2,462,263,263,"word[cell] = ((((((((mine>>14)<<14)|(((mine>>10)&15)<<10))|(0<<9))|(0<<8))|(2<<5))|(me<<3))|stamp)", 1, 2, 0);
	trans[0][458]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][461]	= settr(460,2,462,1,0,".(goto)", 1, 2, 0);
	trans[0][459]	= settr(458,2,462,2,0,"else", 1, 2, 0);
	trans[0][459]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][462]	= settr(461,2,463,264,264,"wrote = 0", 1, 2, 0);
	trans[0][462]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][463]	= settr(462,0,508,265,265,"mine = 0", 1, 2, 0);
	trans[0][463]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][468]	= settr(467,0,508,1,0,".(goto)", 0, 2, 0);
	trans[0][465]	= settr(464,0,466,2,0,"else", 0, 2, 0);
	trans[0][465]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][466]	= settr(465,0,508,266,266,"wrote = 0", 0, 2, 0);
	trans[0][466]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][508] = settr(507,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(507,0,498,0,0,"sub-sequence", 0, 2, 0);
	T = trans[0][498] = settr(497,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(497,0,470,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(497,0,497,0,0,"IF", 0, 2, 0);
	trans[0][470]	= settr(469,0,475,267,0,"(recorded)", 0, 2, 0);
	trans[0][470]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][475] = settr(474,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(474,0,474,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 0][474] = settr(473,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(473,2,471,0,0,"ATOMIC", 1, 2, 0);
	trans[0][471]	= settr(470,2,472,268,268,"mine = word[cell]", 1, 2, 0);
	trans[0][471]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][472]	= settr(471,2,473,269,269,"got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))", 1, 2, 0);
	trans[0][472]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][473]	= settr(472,0,495,270,0,"assert(got)", 1, 2, 0);
	trans[0][473]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][495] = settr(494,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(494,0,476,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(494,0,485,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(494,0,493,0,0,"IF", 0, 2, 0);
	trans[0][476]	= settr(475,0,477,271,271,"((got&&(((mine>>10)&15)==0)))", 0, 2, 0);
	trans[0][476]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][477]	= settr(476,0,484,272,272,"tag[cell] = 0", 1, 2, 0);
	trans[0][477]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][484] = settr(483,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(483,2,481,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][481] = settr(480,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(480,2,478,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(480,2,480,0,0,"IF", 1, 2, 0);
	trans[0][478]	= settr(477,2,479,273,0,"((word[cell]==mine))", 1, 2, 0);
	trans[0][478]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][479]	= settr(478,2,482,274,274,"word[cell] = ((((((((mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(0<<5))|(me<<3))|stamp)", 1, 2, 0);
	trans[0][479]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][482]	= settr(481,2,483,1,0,".(goto)", 1, 2, 0);
	trans[0][480]	= settr(479,2,482,2,0,"else", 1, 2, 0);
	trans[0][480]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][483]	= settr(482,0,507,275,275,"holds[me] = 0", 1, 2, 0);
	trans[0][483]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][496]	= settr(495,0,507,1,0,".(goto)", 0, 2, 0);
	trans[0][485]	= settr(484,0,492,276,276,"((got&&(((mine>>10)&15)>0)))", 0, 2, 0);
	trans[0][485]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][492] = settr(491,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(491,2,489,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][489] = settr(488,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(488,2,486,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(488,2,488,0,0,"IF", 1, 2, 0);
	trans[0][486]	= settr(485,2,487,277,0,"((word[cell]==mine))", 1, 2, 0);
	trans[0][486]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][487]	= settr(486,2,490,278,278,"word[cell] = ((((((((mine>>14)<<14)|(((mine>>10)&15)<<10))|(0<<9))|(0<<8))|(3<<5))|(me<<3))|stamp)", 1, 2, 0);
	trans[0][487]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][490]	= settr(489,2,491,1,0,".(goto)", 1, 2, 0);
	trans[0][488]	= settr(487,2,490,2,0,"else", 1, 2, 0);
	trans[0][488]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][491]	= settr(490,0,507,279,279,"holds[me] = 0", 1, 2, 0);
	trans[0][491]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][493]	= settr(492,0,494,2,0,"else", 0, 2, 0);
	trans[0][493]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][494]	= settr(493,0,507,280,280,"holds[me] = 0", 1, 2, 0);
	trans[0][494]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][499]	= settr(498,0,507,1,0,".(goto)", 0, 2, 0);
	trans[0][497]	= settr(496,0,507,2,0,"else", 0, 2, 0);
	trans[0][497]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][507] = settr(506,2,0,0,0,"ATOMIC", 0, 2, 0);
	T->nxt	= settr(506,2,500,0,0,"ATOMIC", 0, 2, 0);
	trans[0][500]	= settr(499,2,501,281,281,"mine = 0", 0, 2, 0);
	trans[0][500]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][501]	= settr(500,2,502,282,282,"wrote = 0", 0, 2, 0);
	trans[0][501]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][502]	= settr(501,2,503,283,283,"recorded = 0", 0, 2, 0);
	trans[0][502]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][503]	= settr(502,2,504,284,284,"sent = 0", 0, 2, 0);
	trans[0][503]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][504]	= settr(503,2,505,285,285,"cell = 0", 0, 2, 0);
	trans[0][504]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][505]	= settr(504,2,506,286,286,"epoch = 0", 0, 2, 0);
	trans[0][505]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][506]	= settr(505,0,628,287,287,"got = 0", 0, 2, 0);
	trans[0][506]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][509]	= settr(508,0,628,1,0,"goto :b5", 0, 2, 0);
	trans[0][509]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][510]	= settr(509,0,549,1,0,"(1)", 0, 2, 0);
	trans[0][510]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][549] = settr(548,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(548,0,539,0,0,"sub-sequence", 0, 2, 0);
	T = trans[0][539] = settr(538,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(538,0,511,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(538,0,538,0,0,"IF", 0, 2, 0);
	trans[0][511]	= settr(510,0,516,288,0,"(recorded)", 0, 2, 0);
	trans[0][511]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][516] = settr(515,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(515,0,515,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 0][515] = settr(514,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(514,2,512,0,0,"ATOMIC", 1, 2, 0);
	trans[0][512]	= settr(511,2,513,289,289,"mine = word[cell]", 1, 2, 0);
	trans[0][512]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][513]	= settr(512,2,514,290,290,"got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))", 1, 2, 0);
	trans[0][513]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][514]	= settr(513,0,536,291,0,"assert(got)", 1, 2, 0);
	trans[0][514]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][536] = settr(535,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(535,0,517,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(535,0,526,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(535,0,534,0,0,"IF", 0, 2, 0);
	trans[0][517]	= settr(516,0,518,292,292,"((got&&(((mine>>10)&15)==0)))", 0, 2, 0);
	trans[0][517]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][518]	= settr(517,0,525,293,293,"tag[cell] = 0", 1, 2, 0);
	trans[0][518]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][525] = settr(524,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(524,2,522,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][522] = settr(521,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(521,2,519,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(521,2,521,0,0,"IF", 1, 2, 0);
	trans[0][519]	= settr(518,2,520,294,0,"((word[cell]==mine))", 1, 2, 0);
	trans[0][519]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][520]	= settr(519,2,523,295,295,"word[cell] = ((((((((mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(0<<5))|(me<<3))|stamp)", 1, 2, 0);
	trans[0][520]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][523]	= settr(522,2,524,1,0,".(goto)", 1, 2, 0);
	trans[0][521]	= settr(520,2,523,2,0,"else", 1, 2, 0);
	trans[0][521]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][524]	= settr(523,0,548,296,296,"holds[me] = 0", 1, 2, 0);
	trans[0][524]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][537]	= settr(536,0,548,1,0,".(goto)", 0, 2, 0);
	trans[0][526]	= settr(525,0,533,297,297,"((got&&(((mine>>10)&15)>0)))", 0, 2, 0);
	trans[0][526]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][533] = settr(532,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(532,2,530,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][530] = settr(529,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(529,2,527,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(529,2,529,0,0,"IF", 1, 2, 0);
	trans[0][527]	= settr(526,2,528,298,0,"((word[cell]==mine))", 1, 2, 0);
	trans[0][527]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][528]	= settr(527,2,531,299,299,"word[cell] = ((((((((mine>>14)<<14)|(((mine>>10)&15)<<10))|(0<<9))|(0<<8))|(4<<5))|(me<<3))|stamp)", 1, 2, 0);
	trans[0][528]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][531]	= settr(530,2,532,1,0,".(goto)", 1, 2, 0);
	trans[0][529]	= settr(528,2,531,2,0,"else", 1, 2, 0);
	trans[0][529]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][532]	= settr(531,0,548,300,300,"holds[me] = 0", 1, 2, 0);
	trans[0][532]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][534]	= settr(533,0,535,2,0,"else", 0, 2, 0);
	trans[0][534]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][535]	= settr(534,0,548,301,301,"holds[me] = 0", 1, 2, 0);
	trans[0][535]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][540]	= settr(539,0,548,1,0,".(goto)", 0, 2, 0);
	trans[0][538]	= settr(537,0,548,2,0,"else", 0, 2, 0);
	trans[0][538]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][548] = settr(547,2,0,0,0,"ATOMIC", 0, 2, 0);
	T->nxt	= settr(547,2,541,0,0,"ATOMIC", 0, 2, 0);
	trans[0][541]	= settr(540,2,542,302,302,"mine = 0", 0, 2, 0);
	trans[0][541]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][542]	= settr(541,2,543,303,303,"wrote = 0", 0, 2, 0);
	trans[0][542]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][543]	= settr(542,2,544,304,304,"recorded = 0", 0, 2, 0);
	trans[0][543]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][544]	= settr(543,2,545,305,305,"sent = 0", 0, 2, 0);
	trans[0][544]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][545]	= settr(544,2,546,306,306,"cell = 0", 0, 2, 0);
	trans[0][545]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][546]	= settr(545,2,547,307,307,"epoch = 0", 0, 2, 0);
	trans[0][546]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][547]	= settr(546,0,628,308,308,"got = 0", 0, 2, 0);
	trans[0][547]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][550]	= settr(549,0,628,1,0,"goto :b5", 0, 2, 0);
	trans[0][550]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][551]	= settr(550,0,570,1,0,"(1)", 0, 2, 0);
	trans[0][551]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][570] = settr(569,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(569,0,568,0,0,"sub-sequence", 0, 2, 0);
	T = trans[0][568] = settr(567,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(567,0,552,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(567,0,566,0,0,"IF", 0, 2, 0);
	trans[0][552]	= settr(551,0,557,309,0,"(recorded)", 0, 2, 0);
	trans[0][552]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][557] = settr(556,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(556,0,556,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 0][556] = settr(555,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(555,2,553,0,0,"ATOMIC", 1, 2, 0);
	trans[0][553]	= settr(552,2,554,310,310,"mine = word[cell]", 1, 2, 0);
	trans[0][553]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][554]	= settr(553,2,555,311,311,"got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))", 1, 2, 0);
	trans[0][554]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][555]	= settr(554,0,565,312,0,"assert(got)", 1, 2, 0);
	trans[0][555]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][565] = settr(564,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(564,2,561,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][561] = settr(560,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(560,2,558,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(560,2,560,0,0,"IF", 1, 2, 0);
	trans[0][558]	= settr(557,2,559,313,313,"((got&&(word[cell]==mine)))", 1, 2, 0);
	trans[0][558]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][559]	= settr(558,2,563,314,314,"word[cell] = ((((((((mine>>14)<<14)|(((mine>>10)&15)<<10))|(((mine>>9)&1)<<9))|(1<<8))|(2<<5))|(me<<3))|stamp)", 1, 2, 0);
	trans[0][559]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][562]	= settr(561,2,563,1,0,".(goto)", 1, 2, 0);
	trans[0][560]	= settr(559,2,563,2,0,"else", 1, 2, 0);
	trans[0][560]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][563]	= settr(562,2,564,315,315,"wrote = 0", 1, 2, 0);
	trans[0][563]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][564]	= settr(563,0,609,316,316,"mine = 0", 1, 2, 0);
	trans[0][564]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][569]	= settr(568,0,609,1,0,".(goto)", 0, 2, 0);
	trans[0][566]	= settr(565,0,567,2,0,"else", 0, 2, 0);
	trans[0][566]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][567]	= settr(566,0,609,317,317,"wrote = 0", 0, 2, 0);
	trans[0][567]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][609] = settr(608,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(608,0,599,0,0,"sub-sequence", 0, 2, 0);
	T = trans[0][599] = settr(598,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(598,0,571,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(598,0,598,0,0,"IF", 0, 2, 0);
	trans[0][571]	= settr(570,0,576,318,0,"(recorded)", 0, 2, 0);
	trans[0][571]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][576] = settr(575,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(575,0,575,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 0][575] = settr(574,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(574,2,572,0,0,"ATOMIC", 1, 2, 0);
	trans[0][572]	= settr(571,2,573,319,319,"mine = word[cell]", 1, 2, 0);
	trans[0][572]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][573]	= settr(572,2,574,320,320,"got = (((((mine>>5)&7)==2)&&(((mine>>3)&3)==me))&&((0==6)||(((mine>>14)==epoch)&&((mine&7)==stamp))))", 1, 2, 0);
	trans[0][573]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][574]	= settr(573,0,596,321,0,"assert(got)", 1, 2, 0);
	trans[0][574]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[0][596] = settr(595,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(595,0,577,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(595,0,586,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(595,0,594,0,0,"IF", 0, 2, 0);
	trans[0][577]	= settr(576,0,578,322,322,"((got&&(((mine>>10)&15)==0)))", 0, 2, 0);
	trans[0][577]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][578]	= settr(577,0,585,323,323,"tag[cell] = 0", 1, 2, 0);
	trans[0][578]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][585] = settr(584,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(584,2,582,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][582] = settr(581,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(581,2,579,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(581,2,581,0,0,"IF", 1, 2, 0);
	trans[0][579]	= settr(578,2,580,324,0,"((word[cell]==mine))", 1, 2, 0);
	trans[0][579]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][580]	= settr(579,2,583,325,325,"word[cell] = ((((((((mine>>14)<<14)|(0<<10))|(0<<9))|(0<<8))|(0<<5))|(me<<3))|stamp)", 1, 2, 0);
	trans[0][580]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][583]	= settr(582,2,584,1,0,".(goto)", 1, 2, 0);
	trans[0][581]	= settr(580,2,583,2,0,"else", 1, 2, 0);
	trans[0][581]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][584]	= settr(583,0,608,326,326,"holds[me] = 0", 1, 2, 0);
	trans[0][584]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][597]	= settr(596,0,608,1,0,".(goto)", 0, 2, 0);
	trans[0][586]	= settr(585,0,593,327,327,"((got&&(((mine>>10)&15)>0)))", 0, 2, 0);
	trans[0][586]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][593] = settr(592,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(592,2,590,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][590] = settr(589,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(589,2,587,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(589,2,589,0,0,"IF", 1, 2, 0);
	trans[0][587]	= settr(586,2,588,328,0,"((word[cell]==mine))", 1, 2, 0);
	trans[0][587]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][588]	= settr(587,2,591,329,329,"word[cell] = ((((((((mine>>14)<<14)|(((mine>>10)&15)<<10))|(0<<9))|(0<<8))|(3<<5))|(me<<3))|stamp)", 1, 2, 0);
	trans[0][588]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][591]	= settr(590,2,592,1,0,".(goto)", 1, 2, 0);
	trans[0][589]	= settr(588,2,591,2,0,"else", 1, 2, 0);
	trans[0][589]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][592]	= settr(591,0,608,330,330,"holds[me] = 0", 1, 2, 0);
	trans[0][592]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][594]	= settr(593,0,595,2,0,"else", 0, 2, 0);
	trans[0][594]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][595]	= settr(594,0,608,331,331,"holds[me] = 0", 1, 2, 0);
	trans[0][595]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][600]	= settr(599,0,608,1,0,".(goto)", 0, 2, 0);
	trans[0][598]	= settr(597,0,608,2,0,"else", 0, 2, 0);
	trans[0][598]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][608] = settr(607,2,0,0,0,"ATOMIC", 0, 2, 0);
	T->nxt	= settr(607,2,601,0,0,"ATOMIC", 0, 2, 0);
	trans[0][601]	= settr(600,2,602,332,332,"mine = 0", 0, 2, 0);
	trans[0][601]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][602]	= settr(601,2,603,333,333,"wrote = 0", 0, 2, 0);
	trans[0][602]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][603]	= settr(602,2,604,334,334,"recorded = 0", 0, 2, 0);
	trans[0][603]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][604]	= settr(603,2,605,335,335,"sent = 0", 0, 2, 0);
	trans[0][604]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][605]	= settr(604,2,606,336,336,"cell = 0", 0, 2, 0);
	trans[0][605]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][606]	= settr(605,2,607,337,337,"epoch = 0", 0, 2, 0);
	trans[0][606]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][607]	= settr(606,0,628,338,338,"got = 0", 0, 2, 0);
	trans[0][607]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][610]	= settr(609,0,628,1,0,"goto :b5", 0, 2, 0);
	trans[0][610]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][619]	= settr(618,0,628,1,0,"break", 0, 2, 0);
	trans[0][619]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][624]	= settr(623,0,628,1,0,".(goto)", 0, 2, 0);
	trans[0][620]	= settr(619,0,621,2,0,"else", 0, 2, 0);
	trans[0][620]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][621]	= settr(620,0,622,339,339,"cell = 0", 0, 2, 0);
	trans[0][621]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][622]	= settr(621,0,628,340,340,"epoch = 0", 0, 2, 0);
	trans[0][622]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][626]	= settr(625,0,631,341,0,"((turns_left==0))", 1, 2, 0);
	trans[0][626]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][627]	= settr(626,0,631,1,0,"goto :b0", 0, 2, 0);
	trans[0][627]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][630]	= settr(629,0,631,1,0,"break", 0, 2, 0);
	trans[0][630]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][631]	= settr(630,0,669,342,342,"done = (done+1)", 1, 2, 0);
	trans[0][631]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	trans[0][632]	= settr(631,0,669,1,0,"goto gone", 0, 2, 0);
	trans[0][632]->escp[0] = 633;
	reached0[633] = 1;
	/* escape #0: 633 */
	/* end-escapes */
	T = trans[ 0][663] = settr(662,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(662,2,640,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][640] = settr(639,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(639,2,637,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(639,2,639,0,0,"IF", 1, 2, 0);
	trans[0][637]	= settr(636,4,667,343,343,"((wrote&&recorded))", 1, 2, 0); /* m: 638 -> 667,0 */
	reached0[638] = 1;
	trans[0][638]	= settr(0,0,0,0,0,"may_have_run = 1",0,0,0);
	trans[0][641]	= settr(640,2,642,1,0,".(goto)", 1, 2, 0); /* m: 642 -> 0,667 */
	reached0[642] = 1;
	trans[0][639]	= settr(638,2,642,2,0,"else", 1, 2, 0);
	trans[0][642]	= settr(641,4,667,344,344,"epoch = 0", 1, 2, 0); /* m: 643 -> 0,667 */
	reached0[643] = 1;
	trans[0][643]	= settr(0,0,0,0,0,"i = 0",0,0,0);
	trans[0][644]	= settr(0,0,0,0,0,"noted = 0",0,0,0);
	trans[0][645]	= settr(0,0,0,0,0,"found = 0",0,0,0);
	trans[0][646]	= settr(0,0,0,0,0,"finding = 0",0,0,0);
	trans[0][647]	= settr(0,0,0,0,0,"cell = 0",0,0,0);
	trans[0][648]	= settr(0,0,0,0,0,"best_cell = 0",0,0,0);
	trans[0][649]	= settr(0,0,0,0,0,"tries = 0",0,0,0);
	trans[0][650]	= settr(0,0,0,0,0,"phase = 0",0,0,0);
	trans[0][651]	= settr(0,0,0,0,0,"seen = 0",0,0,0);
	trans[0][652]	= settr(0,0,0,0,0,"best = 0",0,0,0);
	trans[0][653]	= settr(0,0,0,0,0,"mine = 0",0,0,0);
	trans[0][654]	= settr(0,0,0,0,0,"stamp = 0",0,0,0);
	trans[0][655]	= settr(0,0,0,0,0,"same = 0",0,0,0);
	trans[0][656]	= settr(0,0,0,0,0,"seen_key = 0",0,0,0);
	trans[0][657]	= settr(0,0,0,0,0,"room = 0",0,0,0);
	trans[0][658]	= settr(0,0,0,0,0,"got = 0",0,0,0);
	trans[0][659]	= settr(0,0,0,0,0,"recorded = 0",0,0,0);
	trans[0][660]	= settr(0,0,0,0,0,"sent = 0",0,0,0);
	trans[0][661]	= settr(0,0,0,0,0,"wrote = 0",0,0,0);
	trans[0][662]	= settr(0,0,0,0,0,"holds[me] = 0",0,0,0);
	T = trans[ 0][667] = settr(666,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(666,2,664,0,0,"ATOMIC", 1, 2, 0);
	trans[0][664]	= settr(663,0,636,345,345,"(reaped[me])", 1, 2, 0); /* m: 665 -> 636,0 */
	reached0[665] = 1;
	trans[0][665]	= settr(0,0,0,0,0,"reaped[me] = 0",0,0,0);
	trans[0][666]	= settr(0,0,0,0,0,"killed[me] = 0",0,0,0);
	trans[0][668]	= settr(667,0,636,1,0,"goto life", 0, 2, 0);
	trans[0][669]	= settr(668,0,670,1,0,"(1)", 0, 2, 0);
	trans[0][670]	= settr(669,0,0,346,346,"-end-", 0, 3500, 0);
	/* np_ demon: */
	trans[_NP_] = (Trans **) emalloc(3*sizeof(Trans *));
	T = trans[_NP_][0] = settr(9997,0,1,_T5,0,"(np_)", 1,2,0);
	    T->nxt	  = settr(9998,0,0,_T2,0,"(1)",   0,2,0);
	T = trans[_NP_][1] = settr(9999,0,1,_T5,0,"(np_)", 1,2,0);
}

Trans *
settr(	int t_id, int a, int b, int c, int d,
	char *t, int g, int tpe0, int tpe1)
{	Trans *tmp = (Trans *) emalloc(sizeof(Trans));

	tmp->atom  = a&(6|32);	/* only (2|8|32) have meaning */
	if (!g) tmp->atom |= 8;	/* no global references */
	tmp->st    = b;
	tmp->tpe[0] = tpe0;
	tmp->tpe[1] = tpe1;
	tmp->tp    = t;
	tmp->t_id  = t_id;
	tmp->forw  = c;
	tmp->back  = d;
	return tmp;
}

Trans *
cpytr(Trans *a)
{	Trans *tmp = (Trans *) emalloc(sizeof(Trans));

	int i;
	tmp->atom  = a->atom;
	tmp->st    = a->st;
#ifdef HAS_UNLESS
	tmp->e_trans = a->e_trans;
	for (i = 0; i < HAS_UNLESS; i++)
		tmp->escp[i] = a->escp[i];
#endif
	tmp->tpe[0] = a->tpe[0];
	tmp->tpe[1] = a->tpe[1];
	for (i = 0; i < 6; i++)
	{	tmp->qu[i] = a->qu[i];
		tmp->ty[i] = a->ty[i];
	}
	tmp->tp    = (char *) emalloc(strlen(a->tp)+1);
	strcpy(tmp->tp, a->tp);
	tmp->t_id  = a->t_id;
	tmp->forw  = a->forw;
	tmp->back  = a->back;
	return tmp;
}

#ifndef NOREDUCE
int
srinc_set(int n)
{	if (n <= 2) return LOCAL;
	if (n <= 2+  DELTA) return Q_FULL_F; /* 's' or nfull  */
	if (n <= 2+2*DELTA) return Q_EMPT_F; /* 'r' or nempty */
	if (n <= 2+3*DELTA) return Q_EMPT_T; /* empty */
	if (n <= 2+4*DELTA) return Q_FULL_T; /* full  */
	if (n ==   5*DELTA) return GLOBAL;
	if (n ==   6*DELTA) return TIMEOUT_F;
	if (n ==   7*DELTA) return ALPHA_F;
	Uerror("cannot happen srinc_class");
	return BAD;
}
int
srunc(int n, int m)
{	switch(m) {
	case Q_FULL_F: return n-2;
	case Q_EMPT_F: return n-2-DELTA;
	case Q_EMPT_T: return n-2-2*DELTA;
	case Q_FULL_T: return n-2-3*DELTA;
	case ALPHA_F:
	case TIMEOUT_F: return 257; /* non-zero, and > MAXQ */
	}
	Uerror("cannot happen srunc");
	return 0;
}
#endif
int cnt;
#ifdef HAS_UNLESS
int
isthere(Trans *a, int b)
{	Trans *t;
	for (t = a; t; t = t->nxt)
		if (t->t_id == b)
			return 1;
	return 0;
}
#endif
#ifndef NOREDUCE
int
mark_safety(Trans *t) /* for conditional safety */
{	int g = 0, i, j, k;

	if (!t) return 0;
	if (t->qu[0])
		return (t->qu[1])?2:1;	/* marked */

	for (i = 0; i < 2; i++)
	{	j = srinc_set(t->tpe[i]);
		if (j >= GLOBAL && j != ALPHA_F)
			return -1;
		if (j != LOCAL)
		{	k = srunc(t->tpe[i], j);
			if (g == 0
			||  t->qu[0] != k
			||  t->ty[0] != j)
			{	t->qu[g] = k;
				t->ty[g] = j;
				g++;
	}	}	}
	return g;
}
#endif
void
retrans(int n, int m, int is, short srcln[], uchar reach[], uchar lpstate[])
	/* process n, with m states, is=initial state */
{	Trans *T0, *T1, *T2, *T3;
	Trans *T4, *T5; /* t_reverse or has_unless */
	int i;
#if defined(HAS_UNLESS) || !defined(NOREDUCE)
	int k;
#endif
#ifndef NOREDUCE
	int g, h, j, aa;
#endif
#ifdef HAS_UNLESS
	int p;
#endif
	if (state_tables >= 4)
	{	printf("STEP 1 %s\n", 
			procname[n]);
		for (i = 1; i < m; i++)
		for (T0 = trans[n][i]; T0; T0 = T0->nxt)
			crack(n, i, T0, srcln);
		return;
	}
	do {
		for (i = 1, cnt = 0; i < m; i++)
		{	T2 = trans[n][i];
			T1 = T2?T2->nxt:(Trans *)0;
/* prescan: */		for (T0 = T1; T0; T0 = T0->nxt)
/* choice in choice */	{	if (T0->st && trans[n][T0->st]
				&&  trans[n][T0->st]->nxt)
					break;
			}
#if 0
		if (T0)
		printf("\tstate %d / %d: choice in choice\n",
		i, T0->st);
#endif
			if (T0)
			for (T0 = T1; T0; T0 = T0->nxt)
			{	T3 = trans[n][T0->st];
				if (!T3->nxt)
				{	T2->nxt = cpytr(T0);
					T2 = T2->nxt;
					imed(T2, T0->st, n, i);
					continue;
				}
				do {	T3 = T3->nxt;
					T2->nxt = cpytr(T3);
					T2 = T2->nxt;
					imed(T2, T0->st, n, i);
				} while (T3->nxt);
				cnt++;
			}
		}
	} while (cnt);
	if (state_tables >= 3)
	{	printf("STEP 2 %s\n", 
			procname[n]);
		for (i = 1; i < m; i++)
		for (T0 = trans[n][i]; T0; T0 = T0->nxt)
			crack(n, i, T0, srcln);
		return;
	}
	for (i = 1; i < m; i++)
	{	if (trans[n][i] && trans[n][i]->nxt) /* optimize */
		{	T1 = trans[n][i]->nxt;
#if 0
			printf("\t\tpull %d (%d) to %d\n",
			T1->st, T1->forw, i);
#endif
			srcln[i] = srcln[T1->st];	/* Oyvind Teig, 5.2.0 */

			if (!trans[n][T1->st]) continue;
			T0 = cpytr(trans[n][T1->st]);
			trans[n][i] = T0;
			reach[T1->st] = 1;
			imed(T0, T1->st, n, i);
			for (T1 = T1->nxt; T1; T1 = T1->nxt)
			{
#if 0
			printf("\t\tpull %d (%d) to %d\n",
				T1->st, T1->forw, i);
#endif
		/*		srcln[i] = srcln[T1->st];  gh: not useful */
				if (!trans[n][T1->st]) continue;
				T0->nxt = cpytr(trans[n][T1->st]);
				T0 = T0->nxt;
				reach[T1->st] = 1;
				imed(T0, T1->st, n, i);
	}	}	}
	if (state_tables >= 2)
	{	printf("STEP 3 %s\n", 
			procname[n]);
		for (i = 1; i < m; i++)
		for (T0 = trans[n][i]; T0; T0 = T0->nxt)
			crack(n, i, T0, srcln);
		return;
	}
#ifdef HAS_UNLESS
	for (i = 1; i < m; i++)
	{	if (!trans[n][i]) continue;
		/* check for each state i if an
		 * escape to some state p is defined
		 * if so, copy and mark p's transitions
		 * and prepend them to the transition-
		 * list of state i
		 */
	 if (!like_java) /* the default */
	 {	for (T0 = trans[n][i]; T0; T0 = T0->nxt)
		for (k = HAS_UNLESS-1; k >= 0; k--)
		{	if (p = T0->escp[k])
			for (T1 = trans[n][p]; T1; T1 = T1->nxt)
			{	if (isthere(trans[n][i], T1->t_id))
					continue;
				T2 = cpytr(T1);
				T2->e_trans = p;
				T2->nxt = trans[n][i];
				trans[n][i] = T2;
		}	}
	 } else /* outermost unless checked first */
	 {	T4 = T3 = (Trans *) 0;
		for (T0 = trans[n][i]; T0; T0 = T0->nxt)
		for (k = HAS_UNLESS-1; k >= 0; k--)
		{	if (p = T0->escp[k])
			for (T1 = trans[n][p]; T1; T1 = T1->nxt)
			{	if (isthere(trans[n][i], T1->t_id))
					continue;
				T2 = cpytr(T1);
				T2->nxt = (Trans *) 0;
				T2->e_trans = p;
				if (T3)	T3->nxt = T2;
				else	T4 = T2;
				T3 = T2;
		}	}
		if (T4)
		{	T3->nxt = trans[n][i];
			trans[n][i] = T4;
		}
	 }
	}
#endif
#ifndef NOREDUCE
	for (i = 1; i < m; i++)
	{	if (a_cycles)
		{ /* moves through these states are visible */
	#if PROG_LAB>0 && defined(HAS_NP)
			if (progstate[n][i])
				goto degrade;
			for (T1 = trans[n][i]; T1; T1 = T1->nxt)
				if (progstate[n][T1->st])
					goto degrade;
	#endif
			if (accpstate[n][i] || visstate[n][i])
				goto degrade;
			for (T1 = trans[n][i]; T1; T1 = T1->nxt)
				if (accpstate[n][T1->st])
					goto degrade;
		}
		T1 = trans[n][i];
		if (!T1) continue;
		g = mark_safety(T1);	/* V3.3.1 */
		if (g < 0) goto degrade; /* global */
		/* check if mixing of guards preserves reduction */
		if (T1->nxt)
		{	k = 0;
			for (T0 = T1; T0; T0 = T0->nxt)
			{	if (!(T0->atom&8))
					goto degrade;
				for (aa = 0; aa < 2; aa++)
				{	j = srinc_set(T0->tpe[aa]);
					if (j >= GLOBAL && j != ALPHA_F)
						goto degrade;
					if (T0->tpe[aa]
					&&  T0->tpe[aa]
					!=  T1->tpe[0])
						k = 1;
			}	}
			/* g = 0;	V3.3.1 */
			if (k)	/* non-uniform selection */
			for (T0 = T1; T0; T0 = T0->nxt)
			for (aa = 0; aa < 2; aa++)
			{	j = srinc_set(T0->tpe[aa]);
				if (j != LOCAL)
				{	k = srunc(T0->tpe[aa], j);
					for (h = 0; h < 6; h++)
						if (T1->qu[h] == k
						&&  T1->ty[h] == j)
							break;
					if (h >= 6)
					{	T1->qu[g%6] = k;
						T1->ty[g%6] = j;
						g++;
			}	}	}
			if (g > 6)
			{	T1->qu[0] = 0;	/* turn it off */
				printf("pan: warning, line %d, ",
					srcln[i]);
			 	printf("too many stmnt types (%d)",
					g);
			  	printf(" in selection\n");
			  goto degrade;
			}
		}
		/* mark all options global if >=1 is global */
		for (T1 = trans[n][i]; T1; T1 = T1->nxt)
			if (!(T1->atom&8)) break;
		if (T1)
degrade:	for (T1 = trans[n][i]; T1; T1 = T1->nxt)
			T1->atom &= ~8;	/* mark as unsafe */
		/* can only mix 'r's or 's's if on same chan */
		/* and not mixed with other local operations */
		T1 = trans[n][i];
		if (!T1 || T1->qu[0]) continue;
		j = T1->tpe[0];
		if (T1->nxt && T1->atom&8)
		{ if (j == 5*DELTA)
		  {	printf("warning: line %d ", srcln[i]);
			printf("mixed condition ");
			printf("(defeats reduction)\n");
			goto degrade;
		  }
		  for (T0 = T1; T0; T0 = T0->nxt)
		  for (aa = 0; aa < 2; aa++)
		  if  (T0->tpe[aa] && T0->tpe[aa] != j)
		  {	printf("warning: line %d ", srcln[i]);
			printf("[%d-%d] mixed %stion ",
				T0->tpe[aa], j, 
				(j==5*DELTA)?"condi":"selec");
			printf("(defeats reduction)\n");
			printf("	'%s' <-> '%s'\n",
				T1->tp, T0->tp);
			goto degrade;
		} }
	}
#endif
	for (i = 1; i < m; i++)
	{	T2 = trans[n][i];
		if (!T2
		||  T2->nxt
		||  strncmp(T2->tp, ".(goto)", 7)
		||  !stopstate[n][i])
			continue;
		stopstate[n][T2->st] = 1;
	}
	if (state_tables && !verbose)
	{	if (dodot)
		{	char buf[256], *q = buf, *p = procname[n];
			while (*p != '\0')
			{	if (*p != ':')
				{	*q++ = *p;
				}
				p++;
			}
			*q = '\0';
			printf("digraph ");
			switch (Btypes[n]) {
			case I_PROC:  printf("init {\n"); break;
			case N_CLAIM: printf("claim_%s {\n", buf); break;
			case E_TRACE: printf("notrace {\n"); break;
			case N_TRACE: printf("trace {\n"); break;
			default:      printf("p_%s {\n", buf); break;
			}
			printf("size=\"8,10\";\n");
			printf("  GT [shape=box,style=dotted,label=\"%s\"];\n", buf);
			printf("  GT -> S%d;\n", is);
		} else
		{	switch (Btypes[n]) {
			case I_PROC:  printf("init\n"); break;
			case N_CLAIM: printf("claim %s\n", procname[n]); break;
			case E_TRACE: printf("notrace assertion\n"); break;
			case N_TRACE: printf("trace assertion\n"); break;
			default:      printf("proctype %s\n", procname[n]); break;
		}	}
		for (i = 1; i < m; i++)
		{	reach[i] = 1;
		}
		tagtable(n, m, is, srcln, reach);
		if (dodot) printf("}\n");
	} else
	for (i = 1; i < m; i++)
	{	int nrelse;
		if (Btypes[n] != N_CLAIM)
		{	for (T0 = trans[n][i]; T0; T0 = T0->nxt)
			{	if (T0->st == i
				&& strcmp(T0->tp, "(1)") == 0)
				{	printf("error: proctype '%s' ",
						procname[n]);
		  			printf("line %d, state %d: has un",
						srcln[i], i);
					printf("conditional self-loop\n");
					pan_exit(1);
		}	}	}
		nrelse = 0;
		for (T0 = trans[n][i]; T0; T0 = T0->nxt)
		{	if (strcmp(T0->tp, "else") == 0)
				nrelse++;
		}
		if (nrelse > 1)
		{	printf("error: proctype '%s' state",
				procname[n]);
		  	printf(" %d, inherits %d", i, nrelse);
		  	printf(" 'else' stmnts\n");
			pan_exit(1);
	}	}
#if !defined(LOOPSTATE) && !defined(BFS_PAR)
	if (state_tables)
#endif
	do_dfs(n, m, is, srcln, reach, lpstate);

	if (!t_reverse)
	{	return;
	}
	/* process n, with m states, is=initial state -- reverse list */
	if (!state_tables && Btypes[n] != N_CLAIM)
	{	for (i = 1; i < m; i++)
		{	Trans *Tx = (Trans *) 0; /* list of escapes */
			Trans *Ty = (Trans *) 0; /* its tail element */
			T1 = (Trans *) 0; /* reversed list */
			T2 = (Trans *) 0; /* its tail */
			T3 = (Trans *) 0; /* remembers possible 'else' */

			/* find unless-escapes, they should go first */
			T4 = T5 = T0 = trans[n][i];
	#ifdef HAS_UNLESS
			while (T4 && T4->e_trans) /* escapes are first in orig list */
			{	T5 = T4;	  /* remember predecessor */
				T4 = T4->nxt;
			}
	#endif
			/* T4 points to first non-escape, T5 to its parent, T0 to original list */
			if (T4 != T0)		 /* there was at least one escape */
			{	T3 = T5->nxt;		 /* start of non-escapes */
				T5->nxt = (Trans *) 0;	 /* separate */
				Tx = T0;		 /* start of the escapes */
				Ty = T5;		 /* its tail */
				T0 = T3;		 /* the rest, to be reversed */
			}
			/* T0 points to first non-escape, Tx to the list of escapes, Ty to its tail */

			/* first tail-add non-escape transitions, reversed */
			T3 = (Trans *) 0;
			for (T5 = T0; T5; T5 = T4)
			{	T4 = T5->nxt;
	#ifdef HAS_UNLESS
				if (T5->e_trans)
				{	printf("error: cannot happen!\n");
					continue;
				}
	#endif
				if (strcmp(T5->tp, "else") == 0)
				{	T3 = T5;
					T5->nxt = (Trans *) 0;
				} else
				{	T5->nxt = T1;
					if (!T1) { T2 = T5; }
					T1 = T5;
			}	}
			/* T3 points to a possible else, which is removed from the list */
			/* T1 points to the reversed list so far (without escapes) */
			/* T2 points to the tail element -- where the else should go */
			if (T2 && T3)
			{	T2->nxt = T3;	/* add else */
			} else
			{	if (T3) /* there was an else, but there's no tail */
				{	if (!T1)	/* and no reversed list */
					{	T1 = T3; /* odd, but possible */
					} else		/* even stranger */
					{	T1->nxt = T3;
			}	}	}

			/* add in the escapes, to that they appear at the front */
			if (Tx && Ty) { Ty->nxt = T1; T1 = Tx; }

			trans[n][i] = T1;
			/* reversed, with escapes first and else last */
	}	}
	if (state_tables && verbose)
	{	printf("FINAL proctype %s\n", 
			procname[n]);
		for (i = 1; i < m; i++)
		for (T0 = trans[n][i]; T0; T0 = T0->nxt)
			crack(n, i, T0, srcln);
	}
}
void
imed(Trans *T, int v, int n, int j)	/* set intermediate state */
{	progstate[n][T->st] |= progstate[n][v];
	accpstate[n][T->st] |= accpstate[n][v];
	stopstate[n][T->st] |= stopstate[n][v];
	mapstate[n][j] = T->st;
}
void
tagtable(int n, int m, int is, short srcln[], uchar reach[])
{	Trans *z;

	if (is >= m || !trans[n][is]
	||  is <= 0 || reach[is] == 0)
		return;
	reach[is] = 0;
	if (state_tables)
	for (z = trans[n][is]; z; z = z->nxt)
	{	if (dodot)
			dot_crack(n, is, z);
		else
			crack(n, is, z, srcln);
	}

	for (z = trans[n][is]; z; z = z->nxt)
	{
#ifdef HAS_UNLESS
		int i, j;
#endif
		tagtable(n, m, z->st, srcln, reach);
#ifdef HAS_UNLESS
		for (i = 0; i < HAS_UNLESS; i++)
		{	j = trans[n][is]->escp[i];
			if (!j) break;
			tagtable(n, m, j, srcln, reach);
		}
#endif
	}
}

extern Trans *t_id_lkup[];

void
dfs_table(int n, int m, int is, short srcln[], uchar reach[], uchar lpstate[])
{	Trans *z;

	if (is >= m || is <= 0 || !trans[n][is])
		return;
	if ((reach[is] & (4|8|16)) != 0)
	{	if ((reach[is] & (8|16)) == 16)	/* on stack, not yet recorded */
		{	lpstate[is] = 1;
			reach[is] |= 8; /* recorded */
			if (state_tables && verbose)
			{	printf("state %d line %d is a loopstate\n", is, srcln[is]);
		}	}
		return;
	}
	reach[is] |= (4|16);	/* visited | onstack */
	for (z = trans[n][is]; z; z = z->nxt)
	{	t_id_lkup[z->t_id] = z;
#ifdef HAS_UNLESS
		int i, j;
#endif
		dfs_table(n, m, z->st, srcln, reach, lpstate);
#ifdef HAS_UNLESS
		for (i = 0; i < HAS_UNLESS; i++)
		{	j = trans[n][is]->escp[i];
			if (!j) break;
			dfs_table(n, m, j, srcln, reach, lpstate);
		}
#endif
	}
	reach[is] &= ~16; /* no longer on stack */
}
void
do_dfs(int n, int m, int is, short srcln[], uchar reach[], uchar lpstate[])
{	int i;
	dfs_table(n, m, is, srcln, reach, lpstate);
	for (i = 0; i < m; i++)
		reach[i] &= ~(4|8|16);
}
void
crack(int n, int j, Trans *z, short srcln[])
{	int i;

	if (!z) return;
	printf("	state %3d -(tr %3d)-> state %3d  ",
		j, z->forw, z->st);
	printf("[id %3d tp %3d", z->t_id, z->tpe[0]);
	if (z->tpe[1]) printf(",%d", z->tpe[1]);
#ifdef HAS_UNLESS
	if (z->e_trans)
		printf(" org %3d", z->e_trans);
	else if (state_tables >= 2)
	for (i = 0; i < HAS_UNLESS; i++)
	{	if (!z->escp[i]) break;
		printf(" esc %d", z->escp[i]);
	}
#endif
	printf("]");
	printf(" [%s%s%s%s%s] %s:%d => ",
		z->atom&6?"A":z->atom&32?"D":"-",
		accpstate[n][j]?"a" :"-",
		stopstate[n][j]?"e" : "-",
		progstate[n][j]?"p" : "-",
		z->atom & 8 ?"L":"G",
		PanSource, srcln[j]);
	for (i = 0; z->tp[i]; i++)
		if (z->tp[i] == '\n')
			printf("\\n");
		else
			putchar(z->tp[i]);
	if (verbose && z->qu[0])
	{	printf("\t[");
		for (i = 0; i < 6; i++)
			if (z->qu[i])
				printf("(%d,%d)",
				z->qu[i], z->ty[i]);
		printf("]");
	}
	printf("\n");
	fflush(stdout);
}
/* spin -a m.pml; cc -o pan pan.c; ./pan -D | dot -Tps > foo.ps; ps2pdf foo.ps */
void
dot_crack(int n, int j, Trans *z)
{	int i;

	if (!z) return;
	printf("	S%d -> S%d  [color=black", j, z->st);

	if (z->atom&6) printf(",style=dashed");
	else if (z->atom&32) printf(",style=dotted");
	else if (z->atom&8) printf(",style=solid");
	else printf(",style=bold");

	printf(",label=\"");
	for (i = 0; z->tp[i]; i++)
	{	if (z->tp[i] == '\\'
		&&  z->tp[i+1] == 'n')
		{	i++; printf(" ");
		} else
		{	putchar(z->tp[i]);
	}	}
	printf("\"];\n");
	if (accpstate[n][j]) printf("  S%d [color=red,style=bold];\n", j);
	else if (progstate[n][j]) printf("  S%d [color=green,style=bold];\n", j);
	if (stopstate[n][j]) printf("  S%d [color=blue,style=bold,shape=box];\n", j);
}

#ifdef VAR_RANGES
#define BYTESIZE	32	/* 2^8 : 2^3 = 256:8 = 32 */

typedef struct Vr_Ptr {
	char	*nm;
	uchar	vals[BYTESIZE];
	struct Vr_Ptr *nxt;
} Vr_Ptr;
Vr_Ptr *ranges = (Vr_Ptr *) 0;

void
logval(char *s, int v)
{	Vr_Ptr *tmp;

	if (v<0 || v > 255) return;
	for (tmp = ranges; tmp; tmp = tmp->nxt)
		if (!strcmp(tmp->nm, s))
			goto found;
	tmp = (Vr_Ptr *) emalloc(sizeof(Vr_Ptr));
	tmp->nxt = ranges;
	ranges = tmp;
	tmp->nm = s;
found:
	tmp->vals[(v)/8] |= 1<<((v)%8);
}

void
dumpval(uchar X[], int range)
{	int w, x, i, j = -1;

	for (w = i = 0; w < range; w++)
	for (x = 0; x < 8; x++, i++)
	{
from:		if ((X[w] & (1<<x)))
		{	printf("%d", i);
			j = i;
			goto upto;
	}	}
	return;
	for (w = 0; w < range; w++)
	for (x = 0; x < 8; x++, i++)
	{
upto:		if (!(X[w] & (1<<x)))
		{	if (i-1 == j)
				printf(", ");
			else
				printf("-%d, ", i-1);
			goto from;
	}	}
	if (j >= 0 && j != 255)
		printf("-255");
}

void
dumpranges(void)
{	Vr_Ptr *tmp;
	printf("\nValues assigned within ");
	printf("interval [0..255]:\n");
	for (tmp = ranges; tmp; tmp = tmp->nxt)
	{	printf("\t%s\t: ", tmp->nm);
		dumpval(tmp->vals, BYTESIZE);
		printf("\n");
	}
}
#endif
