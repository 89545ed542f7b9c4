/* SPDX-License-Identifier: BSD-2-Clause */
/* packed.c - scripts in a .tar.xz: xz(1) unpacks it through a pipe, and the
 * archive inside, plain ustar with short names, is read here. */
#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "complain.h"

#define BLOCK 512u              /* bytes of a header; contents are padded */

struct header {                 /* ustar: text fields, numbers in octal   */
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8];
    char type, link[100], magic[6], version[2], owner[32], group[32];
    char major[8], minor[8], prefix[155], pad[12];
};

struct pack {
    const char  *path;
    FILE        *in;            /* what xz writes                         */
    pid_t        pid;
    struct blob *files;
    size_t       count;
};

static void start(struct pack *p)
{
    int fds[2];

    fflush(NULL);
    if (access(p->path, R_OK) != 0 || pipe(fds) != 0)
        complain(p->path, 0, "%s", strerror(errno));
    p->pid = fork();
    if (p->pid < 0)
        complain(p->path, 0, "%s", strerror(errno));
    if (p->pid == 0) {
        dup2(fds[1], STDOUT_FILENO);
        close(fds[0]);
        close(fds[1]);
        execlp("xz", "xz", "-dc", "--", p->path, (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    p->in = fdopen(fds[0], "rb");
    if (p->in == NULL)
        complain(p->path, 0, "%s", strerror(errno));
}

static void finish(struct pack *p)
{
    char rest[4096];
    int status = 0;

    while (fread(rest, 1, sizeof rest, p->in) > 0)
        ;
    fclose(p->in);
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        complain(p->path, 0, "cannot run xz");
    if (status != 0)
        complain(p->path, 0, "xz cannot unpack it");
}

static void read_exactly(struct pack *p, void *to, size_t len)
{
    if (fread(to, 1, len, p->in) != len) {
        finish(p);
        complain(p->path, 0, "packed set ends early");
    }
}

static size_t octal(const struct pack *p, const char *field, size_t len)
{
    size_t v = 0, i;

    for (i = 0; i < len && field[i] >= '0' && field[i] <= '7'; i++)
        v = v * 8 + (size_t)(field[i] - '0');
    if (i == 0 || v > (size_t)1 << 30)
        complain(p->path, 0, "no ustar archive");
    return v;
}

/* Read the next file of the archive.  Return 0 at its end. */
static int next_file(struct pack *p)
{
    static const char *const dot = "./";
    struct header h;
    char name[sizeof h.name + 1], skip[BLOCK];
    const char *base = name;
    struct blob *b;
    size_t len;

    read_exactly(p, &h, sizeof h);
    if (h.name[0] == '\0')
        return 0;
    if (memcmp(h.magic, "ustar", 5) != 0)
        complain(p->path, 0, "no ustar archive");
    len = octal(p, h.size, sizeof h.size);
    memcpy(name, h.name, sizeof h.name);
    name[sizeof h.name] = '\0';
    if (strncmp(name, dot, strlen(dot)) == 0)
        base += strlen(dot);
    p->files = must_grow(p->files, p->count + 1, sizeof *p->files);
    b = &p->files[p->count++];
    b->len = len;
    b->data = must_alloc(len);
    b->path = must_alloc(strlen(p->path) + strlen(base) + 2);
    sprintf(b->path, "%s:%s", p->path, base);
    read_exactly(p, b->data, len);
    read_exactly(p, skip, (BLOCK - len % BLOCK) % BLOCK);
    return 1;
}

static void one_pair(const struct pack *p, const struct blob *script,
                     source_fn fn, void *user)
{
    char *path = source_expected_path(script->path);
    struct blob none = { path, NULL, 0 };
    const struct blob *expected = &none;
    size_t i;

    for (i = 0; i < p->count; i++)
        if (strcmp(p->files[i].path, path) == 0)
            expected = &p->files[i];
    fn(user, script, expected);
    free(path);
}

void packed_each(const char *path, source_fn fn, void *user)
{
    struct pack p;
    size_t i;

    memset(&p, 0, sizeof p);
    p.path = path;
    start(&p);
    while (next_file(&p))
        ;
    finish(&p);
    for (i = 0; i < p.count; i++)
        if (source_ends_in(p.files[i].path, ".script"))
            one_pair(&p, &p.files[i], fn, user);
    for (i = 0; i < p.count; i++) {
        free(p.files[i].path);
        free(p.files[i].data);
    }
    free(p.files);
}
