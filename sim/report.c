/* SPDX-License-Identifier: MIT */
/*
 * The list of findings: sim_find records one entry for each (kernel, pc, kind) with the
 * text of its first occurrence and a count of all.
 */
#include "report.h"

#include "group.h"
#include "icache.h"
#include "loader_priv.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FINDINGS_MAX 4096
#define BUCKETS 1024

struct finding {
    char kernel[160];
    uint64_t pc, hits;
    enum sim_finding what;
    uint32_t group[3], wave;
    int lane;
    char inst[128];
    char detail[384];
    struct finding *chain;
};

static struct {
    pthread_mutex_t lock;
    struct finding *all[FINDINGS_MAX]; /* in order of first occurrence; below guarded by lock */
    struct finding *bucket[BUCKETS];
    size_t count;
    uint64_t lost;
    bool is_open;
    FILE *out; /* NULL = off */
} list = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const char *const names[SIM_FIND_COUNT] = {
    [SIM_FIND_UNKNOWN_INST] = "unknown-inst",
    [SIM_FIND_MEM_BOUNDS] = "mem-bounds",
    [SIM_FIND_MEM_ALIGN] = "mem-align",
    [SIM_FIND_LDS_BOUNDS] = "lds-bounds",
    [SIM_FIND_WAITCNT] = "waitcnt",
    [SIM_FIND_HAZARD] = "hazard",
    [SIM_FIND_BARRIER] = "barrier",
    [SIM_FIND_UNINIT_REG] = "uninit-reg",
    [SIM_FIND_UNINIT_LDS] = "uninit-lds",
    [SIM_FIND_UNINIT_MEM] = "uninit-mem",
    [SIM_FIND_UNPREDICTABLE] = "unpredictable",
    [SIM_FIND_LDS_RACE] = "lds-race",
    [SIM_FIND_TRAP] = "trap",
};

const char *sim_finding_name(enum sim_finding what)
{
    return (unsigned)what < SIM_FIND_COUNT ? names[what] : "?";
}

/* Where findings are printed: MXGSIM_REPORT = "off", a file, or unset for stderr. */
static void open_output(void)
{
    const char *where = getenv("MXGSIM_REPORT");
    list.is_open = true;
    if (!where || !*where) {
        list.out = stderr;
    } else if (strcmp(where, "off") != 0) {
        list.out = fopen(where, "a");
        if (!list.out) {
            list.out = stderr;
            fprintf(stderr, "mxgsim: MXGSIM_REPORT=%s cannot be opened, reporting here\n",
                    where);
        }
    }
}

static int print_finding(const struct finding *f, char *buf, size_t size)
{
    char lane[32] = "";
    if (f->lane >= 0) {
        snprintf(lane, sizeof lane, " lane %d", f->lane);
    }
    return snprintf(buf, size,
                    "%s: kernel %s pc 0x%llx: %s\n"
                    "    %s\n"
                    "    workgroup (%u,%u,%u) wave %u%s, seen %llu time%s\n",
                    sim_finding_name(f->what), f->kernel, (unsigned long long)f->pc, f->inst,
                    f->detail, f->group[0], f->group[1], f->group[2], f->wave, lane,
                    (unsigned long long)f->hits, f->hits == 1 ? "" : "s");
}

static unsigned bucket_of(const char *kernel, uint64_t pc, enum sim_finding what)
{
    uint64_t h = pc * 31 + (unsigned)what;
    for (const char *p = kernel; *p; p++) {
        h = h * 131 + (unsigned char)*p;
    }
    return (unsigned)(h ^ h >> 20) % BUCKETS;
}

static struct finding *lookup(const char *kernel, uint64_t pc, enum sim_finding what)
{
    struct finding *f = list.bucket[bucket_of(kernel, pc, what)];
    while (f && (f->pc != pc || f->what != what || strcmp(f->kernel, kernel) != 0)) {
        f = f->chain;
    }
    return f;
}

/* A new entry for the wave's current instruction, linked in; NULL when the list is full. */
static struct finding *new_finding(struct sim_wave *w, const char *kernel, uint64_t pc,
                                   enum sim_finding what)
{
    struct finding *f = list.count < FINDINGS_MAX ? calloc(1, sizeof *f) : NULL;
    if (!f) {
        list.lost++;
        return NULL;
    }
    snprintf(f->kernel, sizeof f->kernel, "%s", kernel);
    f->pc = pc;
    f->what = what;
    f->wave = w->index;
    memcpy(f->group, w->group->id, sizeof f->group);
    if (w->inst && w->inst->op) {
        sim_inst_text(w->inst, f->inst, sizeof f->inst);
    } else if (w->inst) {
        struct sim_code *code = w->dispatch->code;
        uint64_t left = pc < code->image_size ? code->image_size - pc : 0;
        sim_decode_raw_text(w->inst, code->image + (left ? pc : 0), left, f->inst,
                            sizeof f->inst);
    } else {
        snprintf(f->inst, sizeof f->inst, "(no instruction)");
    }
    unsigned b = bucket_of(f->kernel, pc, what);
    f->chain = list.bucket[b];
    list.bucket[b] = f;
    list.all[list.count++] = f;
    return f;
}

static bool is_fault(const struct sim_wave *w, enum sim_finding what)
{
    switch (what) {
    case SIM_FIND_UNKNOWN_INST:
    case SIM_FIND_MEM_BOUNDS:
    case SIM_FIND_TRAP:
        return true;
    case SIM_FIND_MEM_ALIGN:
        return w->inst && w->inst->op && (w->inst->op->flags & SIM_F_ATOMIC);
    default:
        return false;
    }
}

static enum sim_result fault_result(enum sim_finding what)
{
    return what == SIM_FIND_UNKNOWN_INST ? SIM_E_ILLEGAL_INST
           : what == SIM_FIND_TRAP       ? SIM_E_ABORTED
                                         : SIM_E_MEMORY_FAULT;
}

void sim_find(struct sim_wave *w, enum sim_finding what, int lane, const char *fmt, ...)
{
    char kernel[sizeof((struct finding *)NULL)->kernel];
    snprintf(kernel, sizeof kernel, "%s", w->dispatch->kernel->name);
    uint64_t pc = w->inst ? w->inst->pc : w->pc;
    w->group->counts.c.reports++;
    pthread_mutex_lock(&list.lock);
    struct finding *f = lookup(kernel, pc, what);
    bool is_new = !f;
    if (is_new) {
        f = new_finding(w, kernel, pc, what);
    }
    if (f) {
        f->hits++;
    }
    if (f && is_new) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(f->detail, sizeof f->detail, fmt, ap);
        va_end(ap);
        f->lane = lane;
        if (!list.is_open) {
            open_output();
        }
        if (list.out) {
            char text[1024];
            print_finding(f, text, sizeof text);
            fprintf(list.out, "mxgsim: %s", text);
            fflush(list.out);
        }
    }
    if (is_fault(w, what)) {
        char text[512];
        snprintf(text, sizeof text, "%s: kernel %s pc 0x%llx: %.120s: %.200s",
                 sim_finding_name(what), kernel, (unsigned long long)pc, f ? f->inst : "?",
                 f ? f->detail : "(too many findings)");
        w->state = SIM_WAVE_FAULTED;
        sim_dispatch_stop(w->dispatch, fault_result(what), text);
    }
    pthread_mutex_unlock(&list.lock);
}

size_t sim_report_count(void)
{
    pthread_mutex_lock(&list.lock);
    size_t n = list.count;
    pthread_mutex_unlock(&list.lock);
    return n;
}

bool sim_report_text(size_t i, char *buf, size_t size)
{
    pthread_mutex_lock(&list.lock);
    bool ok = i < list.count;
    if (ok) {
        print_finding(list.all[i], buf, size);
    } else if (size) {
        buf[0] = 0;
    }
    pthread_mutex_unlock(&list.lock);
    return ok;
}

int sim_report_kind(size_t i)
{
    pthread_mutex_lock(&list.lock);
    int kind = i < list.count ? (int)list.all[i]->what : -1;
    pthread_mutex_unlock(&list.lock);
    return kind;
}

uint64_t sim_report_hits(size_t i)
{
    pthread_mutex_lock(&list.lock);
    uint64_t hits = i < list.count ? list.all[i]->hits : 0;
    pthread_mutex_unlock(&list.lock);
    return hits;
}

void sim_report_reset(void)
{
    pthread_mutex_lock(&list.lock);
    for (size_t i = 0; i < list.count; i++) {
        free(list.all[i]);
    }
    list.count = 0;
    list.lost = 0;
    memset(list.bucket, 0, sizeof list.bucket);
    pthread_mutex_unlock(&list.lock);
}

/* Append a JSON string literal. */
static void json_string(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') {
            fprintf(out, "\\%c", c);
        } else if (c < 0x20) {
            fprintf(out, "\\u%04x", c);
        } else {
            fputc(c, out);
        }
    }
    fputc('"', out);
}

static void json_finding(FILE *out, const struct finding *f)
{
    fprintf(out, "{\"kind\": \"%s\", \"kernel\": ", sim_finding_name(f->what));
    json_string(out, f->kernel);
    fprintf(out, ", \"pc\": %llu, \"instruction\": ", (unsigned long long)f->pc);
    json_string(out, f->inst);
    fprintf(out, ", \"detail\": ");
    json_string(out, f->detail);
    fprintf(out, ", \"workgroup\": [%u, %u, %u], \"wave\": %u, \"lane\": %d, \"count\": %llu}",
            f->group[0], f->group[1], f->group[2], f->wave, f->lane,
            (unsigned long long)f->hits);
}

char *sim_report_json(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return NULL;
    }
    pthread_mutex_lock(&list.lock);
    fputc('[', out);
    for (size_t i = 0; i < list.count; i++) {
        fputs(i ? ",\n " : "", out);
        json_finding(out, list.all[i]);
    }
    fputs("]\n", out);
    pthread_mutex_unlock(&list.lock);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

size_t mxgsim_reports_count(void)
{
    return sim_report_count();
}

size_t mxgsim_report_text(size_t i, char *buf, size_t size)
{
    return size && sim_report_text(i, buf, size) ? strlen(buf) : 0;
}

const char *mxgsim_report_kind(size_t i)
{
    int kind = sim_report_kind(i);
    return kind < 0 ? NULL : sim_finding_name((enum sim_finding)kind);
}

void mxgsim_reports_reset(void)
{
    sim_report_reset();
}

char *mxgsim_reports_json(void)
{
    return sim_report_json();
}
