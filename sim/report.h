/* SPDX-License-Identifier: MIT */
/*
 * Findings of the simulator, collected once for each (kernel, pc, kind) with a count.
 * Printed to stderr as they first occur, unless MXGSIM_REPORT is "off" or a file name.
 */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include "wave.h"

size_t sim_report_count(void);

/* One finding as text with a trailing newline; false when i is out of range. */
bool sim_report_text(size_t i, char *buf, size_t size);

/* Kind of finding i, or -1. */
int sim_report_kind(size_t i);

/* Times that finding i occurred. */
uint64_t sim_report_hits(size_t i);

/* All findings as one JSON array, malloc'ed; NULL without memory. */
char *sim_report_json(void);

void sim_report_reset(void);

/* Short name of a kind, e.g. "waitcnt"; "?" when out of range. */
const char *sim_finding_name(enum sim_finding what);

#endif
