/* SPDX-License-Identifier: MIT */
/* A library that asks for more static thread-local storage than any host has to spare. */
int static_tls_touch(int value);

static __thread char block[8 << 20] __attribute__((tls_model("initial-exec")));

__attribute__((visibility("default"))) int static_tls_touch(int value)
{
    block[value] = (char)value;
    return block[value / 2];
}
