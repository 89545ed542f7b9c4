/* SPDX-License-Identifier: BSD-2-Clause */
/* text.c - words, whole numbers and times; integers only, so exact. */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "complain.h"

void text_open(struct text *t, const char *path, const char *data, size_t len)
{
    memset(t, 0, sizeof *t);
    t->path = path;
    t->next = data;
    t->end = data + len;
}

/* Copy the line up to its comment, and step past it. */
static void take_line(struct text *t)
{
    size_t n = 0;
    int comment = 0;

    t->line++;
    for (; t->next < t->end && *t->next != '\n'; t->next++) {
        unsigned char c = (unsigned char)*t->next;

        comment |= c == '#';
        if (comment)
            continue;
        if (c != '\t' && (c < ' ' || c > '~'))
            complain(t->path, t->line, "byte 0x%02x is no text", c);
        if (n + 1 == sizeof t->buf)
            complain(t->path, t->line, "line too long");
        t->buf[n++] = (char)c;
    }
    if (t->next < t->end)
        t->next++;
    t->buf[n] = '\0';
}

int text_line(struct text *t)
{
    while (t->next < t->end) {
        char *p = t->buf;

        take_line(t);
        t->nwords = 0;
        for (;;) {
            p += strspn(p, " \t");
            if (*p == '\0')
                break;
            if (t->nwords == TEXT_WORDS)
                complain(t->path, t->line, "too many words");
            t->words[t->nwords++] = p;
            p += strcspn(p, " \t");
            if (*p != '\0')
                *p++ = '\0';
        }
        if (t->nwords > 0)
            return 1;
    }
    return 0;
}

int text_uint(const char *word, uint64_t max, uint64_t *value)
{
    uint64_t v = 0;

    if (*word == '\0')
        return 0;
    for (; *word != '\0'; word++) {
        uint64_t digit = (uint64_t)(*word - '0');

        if (*word < '0' || *word > '9' || digit > max ||
            v > (max - digit) / 10)
            return 0;
        v = v * 10 + digit;
    }
    *value = v;
    return 1;
}

int text_milli(const char *word, int negative, int64_t *thousandths)
{
    const char *point = strchr(word, '.');
    char digits[24];
    size_t whole, decimals = 0, n;
    uint64_t v;
    int minus = negative && *word == '-';

    word += minus;
    whole = point != NULL ? (size_t)(point - word) : strlen(word);
    if (point != NULL)
        decimals = strlen(point + 1);
    if (whole == 0 || whole > 15 || decimals > 3 ||
        (point != NULL && decimals == 0))
        return 0;
    memcpy(digits, word, whole);
    memcpy(digits + whole, "000", 4);
    for (n = 0; n < decimals; n++)
        digits[whole + n] = point[1 + n];
    if (!text_uint(digits, INT64_MAX, &v))
        return 0;
    *thousandths = minus ? -(int64_t)v : (int64_t)v;
    return 1;
}

int text_time(const char *word, uint64_t *ns)
{
    int64_t us;

    if (!text_milli(word, 0, &us) || us > INT64_MAX / 1000)
        return 0;
    *ns = (uint64_t)us * 1000u;
    return 1;
}

const char *text_format_time(char *buf, size_t size, uint64_t ns)
{
    size_t n;

    snprintf(buf, size, "%" PRIu64 ".%06" PRIu64, ns / 1000000u, ns % 1000000u);
    for (n = strlen(buf); buf[n - 1] == '0'; n--)
        buf[n - 1] = '\0';
    if (buf[n - 1] == '.')
        buf[n - 1] = '\0';
    return buf;
}
