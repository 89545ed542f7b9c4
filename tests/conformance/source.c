/* SPDX-License-Identifier: BSD-2-Clause */
/* source.c - scripts in files and folders. */
#include "source.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "complain.h"

int source_ends_in(const char *name, const char *ending)
{
    size_t n = strlen(name), e = strlen(ending);

    return n > e && strcmp(name + n - e, ending) == 0;
}

char *source_expected_path(const char *path)
{
    size_t stem = strlen(path) - strlen(".script");
    char *out = must_alloc(stem + sizeof ".expected");

    memcpy(out, path, stem);
    strcpy(out + stem, ".expected");
    return out;
}

/* Read a file whole; data stays NULL if there is none. */
static void read_file(struct blob *b)
{
    FILE *f = fopen(b->path, "rb");
    size_t room = 0, got;

    b->data = NULL;
    b->len = 0;
    if (f == NULL) {
        if (errno == ENOENT)
            return;
        complain(b->path, 0, "%s", strerror(errno));
    }
    do {
        room = room > 0 ? 2 * room : 65536;
        b->data = must_grow(b->data, room, 1);
        got = fread(b->data + b->len, 1, room - b->len, f);
        b->len += got;
    } while (b->len == room);
    if (ferror(f))
        complain(b->path, 0, "%s", strerror(errno));
    fclose(f);
}

static void one_script(const char *path, source_fn fn, void *user)
{
    struct blob script, expected;

    script.path = must_copy(path);
    expected.path = source_expected_path(path);
    read_file(&script);
    read_file(&expected);
    if (script.data == NULL)
        complain(path, 0, "no such file");
    fn(user, &script, &expected);
    free(script.path);
    free(script.data);
    free(expected.path);
    free(expected.data);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void one_folder(const char *path, source_fn fn, void *user)
{
    DIR *dir = opendir(path);
    struct dirent *e;
    char **names = NULL;
    size_t n = 0, i;

    if (dir == NULL)
        complain(path, 0, "%s", strerror(errno));
    while ((e = readdir(dir)) != NULL) {
        size_t len = strlen(path) + strlen(e->d_name) + 2;

        if (e->d_name[0] == '.')
            continue;
        names = must_grow(names, n + 1, sizeof *names);
        names[n] = must_alloc(len);
        snprintf(names[n++], len, "%s/%s", path, e->d_name);
    }
    closedir(dir);
    if (n > 0)
        qsort(names, n, sizeof *names, by_name);
    for (i = 0; i < n; i++) {
        struct stat st;

        if (stat(names[i], &st) != 0)
            complain(names[i], 0, "%s", strerror(errno));
        if (S_ISDIR(st.st_mode) || source_ends_in(names[i], ".script") ||
            source_ends_in(names[i], ".tar.xz"))
            source_each(names[i], fn, user);
        free(names[i]);
    }
    free(names);
}

void source_each(const char *path, source_fn fn, void *user)
{
    struct stat st;

    if (stat(path, &st) != 0)
        complain(path, 0, "%s", strerror(errno));
    if (S_ISDIR(st.st_mode))
        one_folder(path, fn, user);
    else if (source_ends_in(path, ".script"))
        one_script(path, fn, user);
    else if (source_ends_in(path, ".tar.xz"))
        packed_each(path, fn, user);
    else
        complain(path, 0, "neither a script, a packed set nor a folder");
}
