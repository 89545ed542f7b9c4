/* SPDX-License-Identifier: BSD-2-Clause */
/* tag.c - slots beyond one word of them, and slots of a shared set.
 *
 * Own tags are a bitmap of words with a bitmap of the words that have a free
 * bit: the lowest free one is found in O(tags / 4096).
 */
#include "hot.h"

int32_t iosched__tag_get_many(struct iosched *s, int sync)
{
    unsigned i, words = (s->ntags + 4095) / 4096;

    if (s->tags != NULL)
        return iosched_tags_get(s->tags, s->seat, sync ? IOSCHED_TAG_SYNC : 0u);
    for (i = 0; i < words; i++)
        if (s->tag_words[i] != 0) {
            unsigned w = i * 64 + iosched__low_bit(s->tag_words[i]);
            uint64_t left = s->tag_free[w];
            unsigned bit = iosched__low_bit(left);

            left &= left - 1;
            s->tag_free[w] = left;
            if (left == 0)
                s->tag_words[i] &= ~((uint64_t)1 << (w % 64));
            return (int32_t)(w * 64 + bit);
        }
    return -1;
}

void iosched__tag_put_many(struct iosched *s, int32_t tag)
{
    uint32_t w = (uint32_t)tag / 64;

    if (s->tags != NULL) {
        (void)iosched_tags_put(s->tags, tag);
        return;
    }
    s->tag_free[w] |= (uint64_t)1 << ((uint32_t)tag % 64);
    s->tag_words[w / 64] |= (uint64_t)1 << (w % 64);
}
