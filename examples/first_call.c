/* SPDX-License-Identifier: MIT */
/*
 * first_call: what a server feels when it meets a shape for the first time.
 *
 * For each shape: the variant that the library chose and why, the first call
 * split by stage, the same call from a fresh process that finds the disk
 * cache, a hot call, the kernels' registers and LDS, and the error against an
 * fp64 oracle.  The exit status is 1 if anything is wrong.
 */
#include <ftw.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "first_call.h"

/* The benchmark shapes of a public MXFP4 GEMM contest for MI355X. */
static const int64_t default_shapes[][3] = {
    { 4, 2880, 512 },  { 16, 2112, 7168 }, { 32, 4096, 512 },
    { 32, 2880, 512 }, { 64, 7168, 2048 }, { 256, 3072, 1536 },
};

struct options {
    int is_json;
    const char *real;        /* folder of a real layer, or NULL */
    const char *child_cache; /* set: this is the fresh process */
    uint64_t seed;
    int64_t m, n, k; /* one shape, or 0 */
};

static void usage(FILE *out)
{
    fputs("usage: first_call [--json] [--seed N] [M N K]\n"
          "       first_call [--json] --real DIR [M]\n"
          "\n"
          "Without a shape: the six of a public contest.  --real takes a layer of a real\n"
          "model: DIR/weight.npy and DIR/activations.npy, as tools/export-layer writes them;\n"
          "M rows of the activations, all if there are fewer.\n"
          "MXG_HIP_LIBRARY names the HIP runtime, MXG_ROCM_PREFIX the compilers.\n",
          out);
}

static int parse_number(const char *text, int64_t *out)
{
    char *end = NULL;
    const long long value = strtoll(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < 1 || value > INT64_C(1) << 24) {
        fprintf(stderr, "first_call: \"%s\" is not a whole number from 1 to 2^24\n", text);
        return -1;
    }
    *out = value;
    return 0;
}

static int parse_positions(int argc, char **argv, struct options *o)
{
    int64_t *const numbers[] = { &o->m, &o->n, &o->k };
    const int count = argc - optind;
    if (count != 0 && count != (o->real != NULL ? 1 : 3)) {
        usage(stderr);
        return -1;
    }
    for (int i = 0; i < count; i++) {
        if (parse_number(argv[optind + i], numbers[i]) != 0) {
            return -1;
        }
    }
    return 0;
}

/* 0 = go on, 1 = done, -1 = wrong usage. */
static int parse(int argc, char **argv, struct options *o)
{
    static const struct option known[] = {
        { "json", no_argument, NULL, 'j' },
        { "real", required_argument, NULL, 'r' },
        { "seed", required_argument, NULL, 's' },
        { "help", no_argument, NULL, 'h' },
        { "child-cache", required_argument, NULL, 'c' },
        { NULL, 0, NULL, 0 },
    };
    int64_t seed = 1;
    int c;
    memset(o, 0, sizeof *o);
    while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (c) {
        case 'j':
            o->is_json = 1;
            break;
        case 'r':
            o->real = optarg;
            break;
        case 'c':
            o->child_cache = optarg;
            break;
        case 'h':
            usage(stdout);
            return 1;
        case 's':
            if (parse_number(optarg, &seed) != 0) {
                return -1;
            }
            break;
        default:
            usage(stderr);
            return -1;
        }
    }
    o->seed = (uint64_t)seed;
    return parse_positions(argc, argv, o);
}

static int make_problem(const struct options *o, const int64_t shape[3], struct problem *p)
{
    return o->real != NULL ? problem_read(p, o->real, o->m)
                           : problem_generate(p, shape[0], shape[1], shape[2], o->seed);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

/* Measure one shape with an empty disk cache of its own. */
static int run_shape(const struct options *o, const int64_t shape[3], int is_first)
{
    struct problem p;
    struct measurement r;
    char cache[] = "/tmp/first_call.XXXXXX";
    char self[4096], numbers[3][24], seed[24];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0 || mkdtemp(cache) == NULL) {
        perror("first_call: a folder for the cache");
        return -1;
    }
    self[length] = '\0';
    for (int i = 0; i < 3; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%" PRId64, shape[i]);
    }
    snprintf(seed, sizeof seed, "%" PRIu64, o->seed);
    char *generated[] = { self,       (char *)"--child-cache",
                          cache,      (char *)"--seed",
                          seed,       numbers[0],
                          numbers[1], numbers[2],
                          NULL };
    char *real[] = { self,
                     (char *)"--child-cache",
                     cache,
                     (char *)"--real",
                     (char *)o->real,
                     o->m > 0 ? numbers[0] : NULL,
                     NULL };
    int status = make_problem(o, shape, &p);
    if (status == 0) {
        status = measure_problem(&p, self, o->real != NULL ? real : generated, cache, &r);
    }
    if (status == 0 && o->is_json) {
        show_json(stdout, &p, &r, is_first);
    } else if (status == 0) {
        show_table_row(stdout, &p, &r);
    }
    if (status != 0 && o->is_json) {
        show_json_failure(stdout, &p, is_first);
    }
    problem_release(&p);
    nftw(cache, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return status == 0 && r.is_right ? 0 : -1;
}

/* Which device the library found; the simulator says so in its device name. */
static int show_device(const struct options *o)
{
    mxg_context *context = NULL;
    mxg_context_options options = MXG_CONTEXT_OPTIONS_INIT;
    options.cache_dir = "";
    if (mxg_context_create(&options, &context) != MXG_OK) {
        fprintf(stderr, "first_call: %s\n", mxg_last_error());
        return -1;
    }
    mxg_context_destroy(context);
    if (o->is_json) {
        return 0;
    }
    const char *library = getenv("MXG_HIP_LIBRARY");
    if (library != NULL && strstr(library, "hipsim") != NULL) {
        printf(
            "The device is the gfx950 simulator (%s): results are those of the machine code,\n"
            "device times are the simulator's own and NOT hardware times.\n",
            library);
    }
    show_table_head(stdout);
    return 0;
}

static int run_child(const struct options *o)
{
    const int64_t shape[3] = { o->m, o->n, o->k };
    struct problem p;
    int status = make_problem(o, shape, &p);
    if (status == 0) {
        status = measure_child(&p, o->child_cache);
    }
    problem_release(&p);
    return status;
}

int main(int argc, char **argv)
{
    struct options o;
    const int parsed = parse(argc, argv, &o);
    if (parsed != 0) {
        return parsed > 0 ? EXIT_SUCCESS : 2;
    }
    if (o.child_cache != NULL) {
        return run_child(&o) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    if (show_device(&o) != 0) {
        return EXIT_FAILURE;
    }
    const int64_t one[1][3] = { { o.m, o.n, o.k } };
    const int is_one = o.real != NULL || o.m > 0;
    const int64_t(*shapes)[3] = is_one ? one : default_shapes;
    const size_t count = is_one ? 1 : sizeof default_shapes / sizeof default_shapes[0];
    int failures = 0;
    if (o.is_json) {
        printf("{\"simulated\": %s, \"shapes\": [",
               getenv("MXG_HIP_LIBRARY") != NULL &&
                       strstr(getenv("MXG_HIP_LIBRARY"), "hipsim") != NULL
                   ? "true"
                   : "false");
    }
    for (size_t i = 0; i < count; i++) {
        failures += run_shape(&o, shapes[i], i == 0) != 0;
    }
    if (o.is_json) {
        printf("\n]}\n");
    } else {
        printf("\n%zu of %zu right\n", count - (size_t)failures, count);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("first_call: standard output");
        return EXIT_FAILURE;
    }
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
