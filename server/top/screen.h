/* The terminal while turnpike top has it: the alternate screen, keys without Enter, put back in any case. */
#ifndef TP_SERVER_TOP_SCREEN_H
#define TP_SERVER_TOP_SCREEN_H

#include <signal.h>
#include <stdint.h>

#include "common/base/buf.h"

enum tp_top_event { TP_TOP_TIME, TP_TOP_QUIT, TP_TOP_RESIZED, TP_TOP_SCROLLED };

/* Takes the terminal and the signals that end, stop or resize. At exit() it is given back by itself. */
void tp_top_screen_begin(void);
void tp_top_screen_end(void);
/* Draws lines over what is there, cut to the window, as far down as the keys have scrolled. */
void tp_top_screen_draw(const struct tp_buf *lines);
/* Sleeps until then, a key, or a signal. */
enum tp_top_event tp_top_screen_wait(uint32_t ms);

#endif
