/* SPDX-License-Identifier: BSD-2-Clause */
/* model_inside.h - what the parts of the referee share. */
#ifndef PROPERTY_MODEL_INSIDE_H
#define PROPERTY_MODEL_INSIDE_H
#include "model.h"

/** A call that takes `now` begins. */
void model_enter(struct model *m);
void model_woken(struct model *m, uint32_t before);
int  model_finish(struct model *m, uint32_t i, uint64_t cookie, int status,
                  unsigned state);
void model_depth_up(struct model *m, uint32_t n);
#endif
