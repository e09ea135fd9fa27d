/* SPDX-License-Identifier: MIT */
/*
 * NumPy's .npy format, version 1.0: magic, version, a header length, a Python
 * dictionary as text, then the data.  Only what this example needs is taken:
 * '<f4', C order, two dimensions.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "first_call.h"

static int refuse(const char *path, const char *why)
{
    fprintf(stderr, "first_call: %s: %s\n", path, why);
    return -1;
}

static int parse_header(const char *path, const char *header, int64_t *rows, int64_t *columns)
{
    if (strstr(header, "'descr': '<f4'") == NULL) {
        return refuse(path, "the data is not little-endian float32 ('<f4')");
    }
    if (strstr(header, "'fortran_order': False") == NULL) {
        return refuse(path, "the data is not in C order");
    }
    const char *shape = strstr(header, "'shape': (");
    if (shape == NULL ||
        sscanf(shape, "'shape': (%" SCNd64 ", %" SCNd64 ")", rows, columns) != 2 || *rows < 1 ||
        *columns < 1 || *rows > INT64_C(1) << 24 || *columns > INT64_C(1) << 24) {
        return refuse(path, "the shape is not two dimensions of 1 to 2^24");
    }
    return 0;
}

static int read_header(const char *path, FILE *file, int64_t *rows, int64_t *columns)
{
    unsigned char start[10];
    if (fread(start, 1, sizeof start, file) != sizeof start ||
        memcmp(start, "\x93NUMPY\x01\x00", 8) != 0) {
        return refuse(path, "not a .npy file of version 1.0");
    }
    const size_t size = (size_t)start[8] | (size_t)start[9] << 8;
    char *header = malloc(size + 1);
    if (header == NULL) {
        return refuse(path, "no memory");
    }
    int status;
    if (fread(header, 1, size, file) != size) {
        status = refuse(path, "the header is cut short");
    } else {
        header[size] = '\0';
        status = parse_header(path, header, rows, columns);
    }
    free(header);
    return status;
}

int npy_read_f32(const char *path, float **data, int64_t *rows, int64_t *columns)
{
    *data = NULL;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return refuse(path, "cannot be opened");
    }
    int status = read_header(path, file, rows, columns);
    if (status == 0) {
        const size_t count = (size_t)(*rows * *columns);
        *data = malloc(count * sizeof **data);
        if (*data == NULL) {
            status = refuse(path, "no memory for the data");
        } else if (fread(*data, sizeof **data, count, file) != count) {
            status = refuse(path, "the data is cut short");
            free(*data);
            *data = NULL;
        }
    }
    fclose(file);
    return status;
}
