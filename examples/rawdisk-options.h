/* SPDX-License-Identifier: BSD-2-Clause */
/* rawdisk-options.h - what rawdisk.c needs besides a scheduler: its command
 * line, the target that this names, the data to write there, and the table.
 */
#ifndef RAWDISK_OPTIONS_H
#define RAWDISK_OPTIONS_H
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <iosched/policy.h>     /* for the names of the built-in ones */

enum { EXIT_IO = 1, EXIT_USAGE = 2 };
#define NO_DIRECT "%s: O_DIRECT is refused here; --buffered does without it"

struct options {
    const char *target;
    const char *policy;
    const char *yes_destroy;    /* the device name again, or NULL         */
    uint32_t    depth;          /* most in flight at the device           */
    uint32_t    block;          /* bytes a request                        */
    uint64_t    requests;       /* most a stream                          */
    iosched_dur runtime;        /* ns; 0: until the requests are done     */
    int         write, verify, buffered, csv;
};

static const char help[] =
"usage: rawdisk [OPTION]... TARGET\n"
"Drive a block device or a file through an I/O scheduler, on io_uring.\n"
"TARGET is only read, by a random and a sequential reader, unless --write\n"
"adds a sequential writer, which overwrites its last quarter.\n"
"\n"
"  --policy STRING     as \"deadline\" or \"deadline:4.20,fifo_batch=4\"\n"
"  --policies          list the built-in policies, one a line\n"
"  --depth N           most requests at the device at once [32]\n"
"  --seconds S         how long to run, as 0.5 [5, if --requests is absent]\n"
"  --requests N        most requests of each stream: the same ones every time\n"
"  --block BYTES       size of a request [4096]\n"
"  --write             overwrite the last quarter of TARGET, then flush\n"
"  --verify            with --write: read back what was written and compare\n"
"  --yes-destroy DEV   writing to a block device wants its name once more\n"
"  --buffered          through the page cache, where O_DIRECT is refused\n"
"  --csv               a line a stream: name,MB/s,IOPS,mean ms,p50 ms,\n"
"                      p99 ms,max ms,verified (yes, no, or - for a reader)\n"
"  --help              this text\n"
"\n"
"Exit status: 0 all went well; 1 the target cannot be opened, an I/O error,\n"
"or what was read back differs; 2 the command line, or an unfit target.\n";

/** Say why on stderr, and leave.  The kernel ends what is in flight. */
__attribute__((noreturn, format(printf, 2, 3)))
static void die(int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("rawdisk: ", stderr);
    vfprintf(stderr, format, args);
    fputs(status == EXIT_USAGE ? "\nTry rawdisk --help.\n" : "\n", stderr);
    va_end(args);
    exit(status);
}

/** Result of a call that only a bug here or in the library can make fail. */
static int must(int result)
{
    if (result < 0)
        die(EXIT_IO, "the scheduler: %s", iosched_strerror(result));
    return result;
}

static uint64_t parse_number(const char *option, const char *text,
                             uint64_t min, uint64_t max)
{
    unsigned long long n;
    char *end;

    errno = 0;
    n = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-' ||
        n < min || n > max)
        die(EXIT_USAGE, "--%s %s: not a number from %llu to %llu", option,
            text, (unsigned long long)min, (unsigned long long)max);
    return n;
}

static iosched_dur parse_seconds(const char *text)
{
    double s;
    char *end;

    s = strtod(text, &end);
    if (end == text || *end != '\0' || !(s >= 0.001 && s <= 86400))
        die(EXIT_USAGE, "--seconds %s: not from 0.001 to 86400", text);
    return (iosched_dur)(s * 1e9);
}

__attribute__((noreturn))
static void list_policies(void)
{
    const struct iosched_policy *const *p = iosched_builtin_policies();

    for (; *p != NULL; p++)
        puts((*p)->name);
    exit(EXIT_SUCCESS);
}

static void parse_options(struct options *o, int argc, char **argv)
{
    static const struct option names[] = {
        { "policy",      required_argument, NULL, 'p' },
        { "policies",    no_argument,       NULL, 'l' },
        { "depth",       required_argument, NULL, 'd' },
        { "seconds",     required_argument, NULL, 's' },
        { "requests",    required_argument, NULL, 'r' },
        { "block",       required_argument, NULL, 'b' },
        { "write",       no_argument,       NULL, 'w' },
        { "verify",      no_argument,       NULL, 'v' },
        { "yes-destroy", required_argument, NULL, 'y' },
        { "buffered",    no_argument,       NULL, 'u' },
        { "csv",         no_argument,       NULL, 'c' },
        { "help",        no_argument,       NULL, 'h' },
        { NULL, 0, NULL, 0 }
    };
    int c;

    memset(o, 0, sizeof *o);
    o->policy = "deadline";
    o->depth = 32;
    o->block = 4096;
    o->requests = UINT64_MAX;
    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1)
        switch (c) {
        case 'p': o->policy = optarg; break;
        case 'l': list_policies();
        case 'd':
            o->depth = (uint32_t)parse_number("depth", optarg, 1, 4096);
            break;
        case 's': o->runtime = parse_seconds(optarg); break;
        case 'r':
            o->requests = parse_number("requests", optarg, 1, UINT64_MAX - 1);
            break;
        case 'b':
            o->block = (uint32_t)parse_number("block", optarg, 512, 1 << 20);
            break;
        case 'w': o->write = 1; break;
        case 'v': o->verify = 1; break;
        case 'y': o->yes_destroy = optarg; break;
        case 'u': o->buffered = 1; break;
        case 'c': o->csv = 1; break;
        case 'h': fputs(help, stdout); exit(EXIT_SUCCESS);
        default: die(EXIT_USAGE, "bad command line");
        }
    if (optind != argc - 1)
        die(EXIT_USAGE, optind == argc ? "TARGET is missing"
                                       : "more than one TARGET");
    o->target = argv[optind];
    if (o->verify && !o->write)
        die(EXIT_USAGE, "--verify checks what --write has written");
    if (o->yes_destroy != NULL && strcmp(o->yes_destroy, o->target) != 0)
        die(EXIT_USAGE, "--yes-destroy names %s, but the target is %s",
            o->yes_destroy, o->target);
    if (o->runtime == 0 && o->requests == UINT64_MAX)
        o->runtime = IOSCHED_SEC(5);
}

/* --- The target ----------------------------------------------------------- */
struct target {
    int      fd;
    uint32_t bsize;             /* logical block, bytes                   */
    uint64_t capacity;          /* requests of options.block that fit     */
};

/** The granularity of direct I/O on a file, bytes. */
static uint32_t file_bsize(int fd)
{
#ifdef STATX_DIOALIGN
    struct statx sx;

    if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &sx) == 0 &&
        (sx.stx_mask & STATX_DIOALIGN) && sx.stx_dio_offset_align > 512)
        return sx.stx_dio_offset_align;
#endif
    (void)fd;
    return 512;
}

/** Open it, for reading alone unless --write.  Nothing is written here. */
static void open_target(struct target *t, const struct options *o)
{
    int flags = (o->write ? O_RDWR : O_RDONLY) | O_CLOEXEC, size;
    uint64_t bytes;
    struct stat st;

    if (stat(o->target, &st) != 0)
        die(EXIT_IO, "%s: %s", o->target, strerror(errno));
    if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
        die(EXIT_USAGE, "%s: neither a file nor a block device", o->target);
    if (S_ISBLK(st.st_mode) && o->write) {
        if (o->yes_destroy == NULL)
            die(EXIT_USAGE, "%s is a block device: --write overwrites it only "
                "with --yes-destroy %s", o->target, o->target);
        flags |= O_EXCL;        /* of a device: EBUSY if it is in use */
    }
    t->fd = open(o->target, flags | (o->buffered ? 0 : O_DIRECT));
    if (t->fd < 0 && errno == EINVAL && !o->buffered)
        die(EXIT_IO, NO_DIRECT, o->target);
    if (t->fd < 0 && errno == EBUSY)
        die(EXIT_IO, "%s: mounted or otherwise in use; not written to",
            o->target);
    if (t->fd < 0)
        die(EXIT_IO, "%s: %s", o->target, strerror(errno));
    if (S_ISREG(st.st_mode)) {
        bytes = (uint64_t)st.st_size;
        t->bsize = o->buffered ? 512 : file_bsize(t->fd);
    } else {
        if (ioctl(t->fd, BLKSSZGET, &size) != 0 ||
            ioctl(t->fd, BLKGETSIZE64, &bytes) != 0)
            die(EXIT_IO, "%s: its size: %s", o->target, strerror(errno));
        t->bsize = (uint32_t)size;
    }
    if (o->block % t->bsize != 0)
        die(EXIT_USAGE, "--block %u: not a multiple of %u, the block of %s",
            o->block, t->bsize, o->target);
    t->capacity = bytes / o->block;
    if (t->capacity < 4)
        die(EXIT_USAGE, "%s is too short: 4 requests of %u bytes do not fit",
            o->target, o->block);
}

/* --- The data ------------------------------------------------------------- */
/** A buffer that direct I/O accepts. */
static void *alloc_aligned(const struct target *t, size_t size)
{
    void *p;

    if (posix_memalign(&p, t->bsize > 4096 ? t->bsize : 4096, size) != 0)
        die(EXIT_IO, "out of memory");
    return p;
}

/** SplitMix64 (Steele, Lea and Flood 2014): the x-th number of a sequence. */
static uint64_t mix(uint64_t x)
{
    x = (x + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/** What belongs at byte offset `at` of the target, a multiple of 8. */
static void fill_data(uint64_t *buf, size_t size, uint64_t at, uint64_t seed)
{
    for (size_t i = 0; i < size / 8; i++)
        buf[i] = mix(seed + at / 8 + i);
}

/** Read bytes `at` .. `end` - 1 back and compare; past the library, which has
 *  done its part.  @return 1 if all is as fill_data() made it, else 0. */
static int data_is_right(const struct target *t, const struct options *o,
                         uint64_t at, uint64_t end, uint64_t seed)
{
    size_t piece = o->block > 1u << 16 ? o->block : 16 * (size_t)o->block, len;
    uint64_t *got = alloc_aligned(t, piece), *want = alloc_aligned(t, piece);
    int right = 1;

    /* With --buffered: from the disk, not from the page cache. */
    posix_fadvise(t->fd, (off_t)at, (off_t)(end - at), POSIX_FADV_DONTNEED);
    for (; right && at < end; at += len) {
        len = end - at < piece ? (size_t)(end - at) : piece;
        if (pread(t->fd, got, len, (off_t)at) != (ssize_t)len)
            die(EXIT_IO, "%s: reading back at byte %llu: %s", o->target,
                (unsigned long long)at, errno ? strerror(errno) : "short");
        fill_data(want, len, at, seed);
        right = memcmp(got, want, len) == 0;
        if (!right)
            fprintf(stderr, "rawdisk: %s: bytes %llu to %llu are not what was "
                    "written\n", o->target, (unsigned long long)at,
                    (unsigned long long)(at + len - 1));
    }
    free(got);
    free(want);
    return right;
}

/* --- Response times, and the table of them -------------------------------- */
static iosched_time clock_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return IOSCHED_SEC(t.tv_sec) + (iosched_dur)t.tv_nsec;
}

/** Each power of two in 16 steps: within 7 %.  Below 16 ns it is all the same,
 *  which no disk will notice. */
struct times {
    iosched_dur sum, max;
    uint64_t    count;
    uint64_t    n[60 * 16];
};

static void times_add(struct times *t, iosched_dur ns)
{
    unsigned up = 59u - (unsigned)__builtin_clzll(ns | 16);

    t->sum += ns;
    t->max = ns > t->max ? ns : t->max;
    t->count++;
    t->n[up * 16 + (ns >> up & 15)]++;
}

/** The least time of the step that the given part of all falls into, in ms. */
static double times_quantile_ms(const struct times *t, double part)
{
    uint64_t seen = 0;
    unsigned i;

    for (i = 0; i < 60 * 16 - 1; i++) {
        seen += t->n[i];
        if ((double)seen >= part * (double)t->count)
            break;
    }
    return (double)((16ull + i % 16) << i / 16) / 1e6;
}

static void print_heading(const struct options *o)
{
    if (!o->csv)
        printf("%-17s %8s %8s %8s %8s %8s %8s ms  verified\n", "stream",
               "MB/s", "IOPS", "mean", "p50", "p99", "max");
}

/** A line: what the stream `name` got done in `took` ns, 0 if nothing. */
static void print_stream(const struct options *o, const char *name,
                         const struct times *t, iosched_dur took,
                         const char *verified)
{
    double n = (double)t->count, s = took > 0 ? (double)took / 1e9 : 1;
    const char *format = o->csv ?
        "%s,%.2f,%.0f,%.3f,%.3f,%.3f,%.3f,%s\n" :
        "%-17s %8.2f %8.0f %8.3f %8.3f %8.3f %8.3f     %s\n";

    printf(format, name, n * o->block / s / 1e6, n / s,
           n > 0 ? (double)t->sum / n / 1e6 : 0, times_quantile_ms(t, 0.5),
           times_quantile_ms(t, 0.99), (double)t->max / 1e6, verified);
}

#endif
