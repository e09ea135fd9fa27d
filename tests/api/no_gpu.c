/* SPDX-License-Identifier: MIT */
/* Creates a context and prints what came of it: run by no_gpu.sh over AMD's own HIP runtime. */
#include <mxgemm.h>
#include <stdio.h>

int main(void)
{
    mxg_context *context = NULL;
    const mxg_status status = mxg_context_create(NULL, &context);
    printf("%s: %s\n", mxg_status_name(status), mxg_last_error());
    mxg_context_destroy(context);
    return 0;
}
