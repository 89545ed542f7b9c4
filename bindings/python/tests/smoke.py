# SPDX-License-Identifier: BSD-2-Clause
"""The headers parse as they stand, and a request goes round.

usage: smoke.py CC LIBRARY INCLUDE_DIR...
"""
import os
import sys

import cffi

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir))
from cdef import preprocessed  # noqa: E402

cc, library, dirs = sys.argv[1], sys.argv[2], sys.argv[3:]
ffi = cffi.FFI()
ffi.cdef(preprocessed(cc, dirs))
lib = ffi.dlopen(library)

assert ffi.sizeof("struct iosched_req") == lib.iosched_req_size(), \
    "struct iosched_req has another size here than in the library"

events = []


@ffi.callback("void(void *, const struct iosched_event *)")
def on_event(_user, ev):
    events.append(chr(ev.action))


cfg = ffi.new("struct iosched_cfg *")
assert lib.iosched_cfg_init_sized(cfg, ffi.sizeof("struct iosched_cfg")) == 0
cfg.depth = 4
cfg.trace = on_event
out = ffi.new("struct iosched **")
assert lib.iosched_create(b"deadline,fifo_batch=4", cfg, out, 0) == 0
s = out[0]

reads = [ffi.new("struct iosched_req *") for _ in range(8)]
for i, rq in enumerate(reads):
    rq.lba, rq.nblk = 1000 * (i * 5 % 8), 8
    assert lib.iosched_insert(s, rq, i) == lib.IOSCHED_QUEUED
assert lib.iosched_insert(s, reads[0], 8) == lib.IOSCHED_ERR_BUSY

seen, got, now = [], ffi.new("struct iosched_req **"), 8
while True:
    answer = lib.iosched_dispatch(s, got, 0, now)
    if answer != lib.IOSCHED_GOT:
        break
    seen.append(got[0].xlba)
    now += 1000000
    assert lib.iosched_find(s, lib.iosched_cookie(got[0])) == got[0]
    assert lib.iosched_complete(s, got[0], 0, now) == lib.IOSCHED_OK
assert answer == lib.IOSCHED_EMPTY, answer
assert sorted(seen) == [1000 * i for i in range(8)], seen
assert all(rq.state == lib.IOSCHED_STATE_IDLE for rq in reads)

stats = ffi.new("struct iosched_stats *")
assert lib.iosched_get_stats(s, stats, ffi.sizeof("struct iosched_stats")) == 0
assert stats.completed[lib.IOSCHED_READ] == 8
assert events.count("D") == events.count("C") == 8, events

value = ffi.new("int64_t *")
assert lib.iosched_tunable_get(s, b"fifo_batch", value) == 0
assert value[0] == 4
assert lib.iosched_switch(s, b"noop", now) == 0
assert ffi.string(lib.iosched_policy_name(s)) == b"noop"
assert lib.iosched_switch(s, b"no-such", now) == lib.IOSCHED_ERR_NOENT
assert lib.iosched_destroy(s) == 0
print("cffi %s: struct iosched_req %d bytes, %d events, order %s"
      % (cffi.__version__, ffi.sizeof("struct iosched_req"), len(events),
         [int(x) // 1000 for x in seen]))
