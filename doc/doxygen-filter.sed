# SPDX-License-Identifier: BSD-2-Clause
# What Doxygen reads of a header: a comment after a declaration documents it,
# and goes on in comments that stand alone below it.
s,^\(.*[^ ].*[]0-9a-zA-Z);{}(",?]\)\( *\)/\* \(.*[^ ]\) *\*/$,\1\2/**< \3 */,
s,^ \{20\,\}/\* \(.*[^ ]\) *\*/$,/**< \1 */,
