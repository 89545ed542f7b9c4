/* SPDX-License-Identifier: BSD-2-Clause */
/* replay_main.c - in libFuzzer's place: play each file given, or each file of
 * each folder given, once.  Without arguments: the folder of the corpus named
 * after the program, under $srcdir. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "target.h"

#define MOST_BYTES 65536u

static unsigned long files;

static void one_file(const char *path)
{
    static unsigned char data[MOST_BYTES];
    unsigned char *copy;
    FILE *f = fopen(path, "rb");
    size_t n;

    if (f == NULL) {
        perror(path);
        exit(99);
    }
    n = fread(data, 1, sizeof data, f);
    fclose(f);
    /* A copy of the right size, so that a read past its end is noticed. */
    copy = malloc(n > 0 ? n : 1);
    if (copy == NULL)
        exit(99);
    memcpy(copy, data, n);
    fprintf(stderr, "%s\n", path);
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
    files++;
}

static void one_path(const char *path)
{
    struct stat st;
    struct dirent *e;
    char name[4096];
    DIR *dir;

    if (stat(path, &st) != 0) {
        perror(path);
        exit(99);
    }
    if (!S_ISDIR(st.st_mode)) {
        one_file(path);
        return;
    }
    dir = opendir(path);
    while (dir != NULL && (e = readdir(dir)) != NULL) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        one_file(name);
    }
    if (dir != NULL)
        closedir(dir);
}

int main(int argc, char **argv)
{
    const char *src = getenv("srcdir"), *base = strrchr(argv[0], '/');
    char path[4096];
    int i;

    for (i = 1; i < argc; i++)
        one_path(argv[i]);
    if (argc == 1) {
        base = base != NULL ? base + 1 : argv[0];
        if (strncmp(base, "lt-", 3) == 0)
            base += 3;
        snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s",
                 src != NULL ? src : ".", base);
        one_path(path);
    }
    printf("inputs %lu\n", files);
    return files == 0;
}
