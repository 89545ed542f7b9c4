/* SPDX-License-Identifier: BSD-2-Clause */
/* text.h - words, whole numbers and times of the script language. */
#ifndef REPLAY_TEXT_H
#define REPLAY_TEXT_H
#include <stddef.h>
#include <stdint.h>

#define TEXT_WORDS 12u          /* more than any line has                 */
#define TEXT_LINE  256u         /* bytes of a line, comment not counted   */

/** A text being read line by line. */
struct text {
    const char *path;           /* for complaints                         */
    const char *next, *end;
    unsigned    line;           /* number of the line last read, from 1   */
    unsigned    nwords;
    const char *words[TEXT_WORDS];
    char        buf[TEXT_LINE]; /* the words, cut out of the line         */
};

void text_open(struct text *t, const char *path, const char *data, size_t len);
/** Read on to the next line that has words, a `#` and what follows it taken
 *  out.  @return 1, or 0: there is none.  Complains about lines that are too
 *  long and bytes that are no text. */
int text_line(struct text *t);

/** A decimal number without sign, at most max.  @return 1, or 0: it is not. */
int text_uint(const char *word, uint64_t max, uint64_t *value);
/** A decimal number with up to three decimals, in thousandths; with a sign if
 *  `negative`.  @return 1, or 0: it is not. */
int text_milli(const char *word, int negative, int64_t *thousandths);
/** Milliseconds with up to three decimals, in ns.  @return 1, or 0. */
int text_time(const char *word, uint64_t *ns);
/** The same backwards, with no more decimals than needed.  @return buf. */
const char *text_format_time(char *buf, size_t size, uint64_t ns);

#endif
