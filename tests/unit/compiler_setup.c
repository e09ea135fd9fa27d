/* SPDX-License-Identifier: MIT */
/* What tests of the compiler share. */
#include "compiler_setup.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char log_text[8192];
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static void keep_line(mxg_log_level level, const char *text, void *user)
{
    (void)level;
    (void)user;
    pthread_mutex_lock(&log_lock);
    size_t used = strlen(log_text);
    snprintf(log_text + used, sizeof log_text - used, "%s\n", text);
    pthread_mutex_unlock(&log_lock);
}

static const struct log kept_log = { MXG_LOG_DEBUG, keep_line, NULL };

const char *setup_log_text(void)
{
    static char text[sizeof log_text];
    pthread_mutex_lock(&log_lock);
    memcpy(text, log_text, sizeof text);
    log_text[0] = '\0';
    pthread_mutex_unlock(&log_lock);
    return text;
}

struct compiler_config setup_config(const char *choice)
{
    struct compiler_config config = {
        .choice = choice,
        .rocm_path = getenv("ROCM_PATH"),
        .rocm_prefix = getenv("MXG_TEST_ROCM_PREFIX"),
        .worker_path = getenv("MXG_WORKER"),
        .mem = &mem_default,
        .log = &kept_log,
    };
    return config;
}

const char *setup_fake_worker(void)
{
    static char path[1024];
    const char *built = getenv("MXG_TEST_FAKE_WORKER"), *top = getenv("abs_top_builddir");
    if (built != NULL) {
        return built;
    }
    snprintf(path, sizeof path, "%s/tests/unit/fake_worker", top != NULL ? top : ".");
    return path;
}

bool setup_has_compiler(const char *choice)
{
    struct compiler_config config = setup_config(choice);
    struct compiler *compiler = NULL;
    bool opens = compiler_open(&config, &compiler) == MXG_OK;
    compiler_close(compiler);
    return opens;
}

const char setup_kernel_small[] =
    "extern \"C\" __attribute__((global, amdgpu_flat_work_group_size(256, 256)))\n"
    "void scale(float *p, int n)\n"
    "{\n"
    "    int i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();\n"
    "    if (i < n) { p[i] = p[i] * 2.0f + 1.0f; }\n"
    "}\n";

const char setup_kernel_large[] =
    "typedef float f4 __attribute__((ext_vector_type(4)));\n"
    "typedef int i8v __attribute__((ext_vector_type(8)));\n"
    "template <int N> struct acc { f4 v[N]; };\n"
    "__attribute__((device)) static inline float act(float x)\n"
    "{\n"
    "    return x * x * 0.5f + x / 3.0f + __builtin_amdgcn_exp2f(x) + __builtin_sqrtf(x);\n"
    "}\n"
    "extern \"C\" __attribute__((global, amdgpu_flat_work_group_size(256, 256),\n"
    "                           amdgpu_waves_per_eu(2)))\n"
    "void mix(const i8v *__restrict__ a, const i8v *__restrict__ b, const int *__restrict__ "
    "s,\n"
    "         f4 *__restrict__ c, int n)\n"
    "{\n"
    "    __attribute__((shared)) static float lds[1024];\n"
    "    unsigned t = __builtin_amdgcn_workitem_id_x();\n"
    "    acc<4> r = {};\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        i8v x = a[t + i * 256], y = b[t + i * 512];\n"
    "        #pragma unroll\n"
    "        for (int j = 0; j < 4; j++) {\n"
    "            r.v[j] = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(\n"
    "                x, y, r.v[j], 4, 4, 0, s[i], 0, s[i + j]);\n"
    "        }\n"
    "        lds[t * 4 % 1024] = r.v[0].x;\n"
    "        __builtin_amdgcn_s_barrier();\n"
    "        r.v[1].y += lds[(t * 4 + 7) % 1024] * r.v[1].x;\n"
    "        __builtin_amdgcn_s_barrier();\n"
    "    }\n"
    "    for (int j = 0; j < 4; j++) {\n"
    "        f4 q = r.v[j];\n"
    "        q.x = act(q.x);\n"
    "        q.y = q.y / q.z;\n"
    "        c[t + j * 256] = q;\n"
    "    }\n"
    "}\n";

const char *const setup_options[] = { "-O3", "-std=c++17" };
const size_t setup_num_options = sizeof setup_options / sizeof setup_options[0];

struct compile_request setup_request(const char *source, const char *arch)
{
    struct compile_request request = {
        .name = "kernel", .arch = arch, .source = source, .source_size = strlen(source),
        .options = setup_options, .num_options = setup_num_options,
    };
    return request;
}

bool setup_compile(const char *choice, const char *source, const char *arch,
                   struct compile_result *result)
{
    struct compiler_config config = setup_config(choice);
    struct compile_request request = setup_request(source, arch);
    struct compiler *compiler = NULL;
    if (compiler_open(&config, &compiler) != MXG_OK) {
        ck_assert_msg(compiler == NULL, "a failed open must give NULL");
        return false;
    }
    mxg_status status = compiler_compile(compiler, &request, result);
    compiler_close(compiler);
    ck_assert_msg(status == MXG_OK, "%s: %s", choice, mxg_last_error());
    ck_assert_ptr_nonnull(result->code);
    ck_assert_ptr_nonnull(result->log);
    return true;
}
