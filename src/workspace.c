/* SPDX-License-Identifier: MIT */
/* The library's own workspace: one device buffer per stream. */
#include "workspace.h"

#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "status.h"
#include "uthash_cfg.h"

struct outgrown {
    void *pointer;
    struct outgrown *next;
};

/*
 * Zeroed, then filled.  hipStreamPerThread is one handle for many streams, told apart by
 * thread.
 */
struct stream_key {
    void *stream;
    uint64_t thread;
};

struct stream_buffer {
    struct stream_key key;
    pthread_mutex_t enqueue; /* held from acquire to release: over asynchronous launches only */
    /* Guarded by enqueue. */
    void *pointer;
    size_t size;
    struct outgrown *outgrown;
    UT_hash_handle hh;
};

struct workspace_pool {
    const struct mem *mem;
    const struct hiprt *hip;
    pthread_mutex_t lock;
    struct stream_buffer *streams; /* Guarded by lock. */
};

enum { SMALLEST = 1 << 16 };

mxg_status workspace_create(const struct mem *mem, const struct hiprt *hip,
                            struct workspace_pool **pool)
{
    *pool = mem_zalloc(mem, 1, sizeof **pool);
    if (*pool == NULL) {
        return status_set(MXG_E_HOST_MEMORY, "no memory for the workspace table");
    }
    (*pool)->mem = mem;
    (*pool)->hip = hip;
    pthread_mutex_init(&(*pool)->lock, NULL);
    return MXG_OK;
}

/* Under buffer->enqueue, or when no other thread can have the buffer. */
static void buffer_empty(struct workspace_pool *pool, struct stream_buffer *buffer,
                         int free_device)
{
    while (buffer->outgrown != NULL) {
        struct outgrown *o = buffer->outgrown;
        buffer->outgrown = o->next;
        if (free_device) {
            pool->hip->hipFree(o->pointer);
        }
        mem_free(pool->mem, o);
    }
    if (buffer->pointer != NULL && free_device) {
        pool->hip->hipFree(buffer->pointer);
    }
    buffer->pointer = NULL;
    buffer->size = 0;
}

void workspace_destroy(struct workspace_pool *pool, int free_device)
{
    if (pool == NULL) {
        return;
    }
    const struct mem *mem = pool->mem;
    struct stream_buffer *buffer, *next;
    HASH_ITER(hh, pool->streams, buffer, next)
    {
        HASH_DEL(pool->streams, buffer);
        buffer_empty(pool, buffer, free_device);
        pthread_mutex_destroy(&buffer->enqueue);
        mem_free(mem, buffer);
    }
    pthread_mutex_destroy(&pool->lock);
    mem_free(mem, pool);
}

static struct stream_key key_of(void *stream)
{
    struct stream_key key;
    memset(&key, 0, sizeof key);
    key.stream = stream;
    if (stream == HIP_STREAM_PER_THREAD) {
        key.thread = (uint64_t)gettid();
    }
    return key;
}

static struct stream_buffer *find_or_add(struct workspace_pool *pool, void *stream)
{
    const struct mem *mem = pool->mem;
    const struct stream_key key = key_of(stream);
    struct stream_buffer *buffer = NULL;
    pthread_mutex_lock(&pool->lock);
    HASH_FIND(hh, pool->streams, &key, sizeof key, buffer);
    if (buffer == NULL && (buffer = mem_zalloc(mem, 1, sizeof *buffer)) != NULL) {
        buffer->key = key;
        pthread_mutex_init(&buffer->enqueue, NULL);
        HASH_ADD(hh, pool->streams, key, sizeof buffer->key, buffer);
        if (buffer->hh.tbl == NULL) {
            pthread_mutex_destroy(&buffer->enqueue);
            mem_free(mem, buffer);
            buffer = NULL;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return buffer;
}

/* Under buffer->enqueue. */
static mxg_status grow(struct workspace_pool *pool, struct stream_buffer *buffer, size_t bytes)
{
    size_t size = buffer->size < SMALLEST ? SMALLEST : buffer->size * 2;
    if (size < bytes) {
        size = bytes;
    }
    struct outgrown *old = NULL;
    if (buffer->pointer != NULL && (old = mem_zalloc(pool->mem, 1, sizeof *old)) == NULL) {
        return status_set(MXG_E_HOST_MEMORY, "no memory to keep an outgrown workspace");
    }
    void *pointer = NULL;
    int error = pool->hip->hipMalloc(&pointer, size);
    if (error != HIP_SUCCESS) {
        mem_free(pool->mem, old);
        mxg_status status = hiprt_error(pool->hip, MXG_E_DEVICE_MEMORY, error, "hipMalloc");
        return status_prefix(status, "a workspace of %zu bytes: ", size);
    }
    if (old != NULL) {
        old->pointer = buffer->pointer;
        old->next = buffer->outgrown;
        buffer->outgrown = old;
    }
    buffer->pointer = pointer;
    buffer->size = size;
    return MXG_OK;
}

mxg_status workspace_acquire(struct workspace_pool *pool, void *stream, size_t bytes,
                             void **pointer, void **lease)
{
    *pointer = NULL;
    *lease = NULL;
    struct stream_buffer *buffer = find_or_add(pool, stream);
    if (buffer == NULL) {
        return status_set(MXG_E_HOST_MEMORY, "no memory for a stream's workspace entry");
    }
    pthread_mutex_lock(&buffer->enqueue);
    if (buffer->size < bytes) {
        mxg_status status = grow(pool, buffer, bytes);
        if (status != MXG_OK) {
            pthread_mutex_unlock(&buffer->enqueue);
            return status;
        }
    }
    *pointer = buffer->pointer;
    *lease = buffer;
    return MXG_OK;
}

void workspace_release(struct workspace_pool *pool, void *lease)
{
    (void)pool;
    pthread_mutex_unlock(&((struct stream_buffer *)lease)->enqueue);
}

int workspace_forget(struct workspace_pool *pool, void *stream)
{
    const struct stream_key key = key_of(stream);
    struct stream_buffer *buffer = NULL;
    pthread_mutex_lock(&pool->lock);
    HASH_FIND(hh, pool->streams, &key, sizeof key, buffer);
    pthread_mutex_unlock(&pool->lock);
    if (buffer == NULL) {
        return pool->hip->hipStreamSynchronize(stream);
    }
    /* The wait is under the lock: work enqueued after it would use what is freed next. */
    pthread_mutex_lock(&buffer->enqueue);
    const int error = pool->hip->hipStreamSynchronize(stream);
    buffer_empty(pool, buffer, 1);
    pthread_mutex_unlock(&buffer->enqueue);
    return error;
}
