// `node scripts/measure-system-calls.mjs [FOLDER]`: CPU time of system calls on this machine, as the defaults of
// `CallCosts` in packages/host were measured. Needs a C compiler. FOLDER lies on the file system to be measured (default:
// the folder for temporary files); what is made there is removed again. CPU time of the thread, so other load hardly
// matters; the least of nine rounds.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const program = `
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGES 1024
static int fd, direct;
static long serial;
static char *buffer;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static void must(long result, const char *what) {
  if (result < 0) { perror(what); exit(1); }
}

static void enter(void) { must(syscall(SYS_getppid), "getppid"); }
static void seek(void) { must(lseek(fd, 0, SEEK_SET), "lseek"); }
static void read4k(void) { must(pread(fd, buffer, 4096, (serial++ % PAGES) * 4096), "pread"); }
static void read64k(void) { must(pread(fd, buffer, 65536, (serial++ % (PAGES / 16)) * 65536), "pread"); }
static void write4k(void) { must(pwrite(fd, buffer, 4096, (serial++ % PAGES) * 4096), "pwrite"); }
static void write64k(void) { must(pwrite(fd, buffer, 65536, (serial++ % (PAGES / 16)) * 65536), "pwrite"); }
static void readdirect(void) { must(pread(direct, buffer, 4096, (serial++ % PAGES) * 4096), "direct pread"); }
static void duplicate(void) { must(close(dup(fd)), "dup, close"); }
static void openclose(void) { must(close(open("file", O_RDONLY)), "open, close"); }
static void fstatus(void) { struct stat s; must(fstat(fd, &s), "fstat"); }
static void near(void) { struct stat s; must(stat("file", &s), "stat"); }
static void far(void) { struct stat s; must(stat("a/b/c/d/e/file", &s), "stat"); }
static void absent(void) {
  struct stat s;
  char name[32];
  sprintf(name, "absent%ld", serial++);
  if (stat(name, &s) == 0 || errno != ENOENT) exit(1);
}
static void entry(void) {
  must(mknod("made", S_IFREG | 0644, 0), "mknod");
  must(unlink("made"), "unlink");
}
static void rest(void) { must(fsync(fd), "fsync"); }
static void list(void) {
  DIR *directory = opendir("many");
  if (directory == NULL) exit(1);
  while (readdir(directory) != NULL);
  closedir(directory);
}
static void fault(void) {
  // Faults of pages 64 KiB apart, each alone.
  volatile char *map = mmap(NULL, PAGES * 4096, PROT_READ, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) exit(1);
  madvise((void *)map, PAGES * 4096, MADV_RANDOM);
  for (long page = 0; page < PAGES; page += 16) (void)map[page * 4096];
  munmap((void *)map, PAGES * 4096);
}

static double time_of(void (*call)(void), long times) {
  double rounds[9];
  for (long i = 0; i < times / 4; i++) call();
  for (int round = 0; round < 9; round++) {
    double start = now();
    for (long i = 0; i < times; i++) call();
    rounds[round] = (now() - start) / times;
  }
  double least = rounds[0];
  for (int round = 1; round < 9; round++) if (rounds[round] < least) least = rounds[round];
  return least;
}

int main(void) {
  buffer = aligned_alloc(4096, 65536);
  memset(buffer, 7, 65536);
  must(fd = open("file", O_RDWR | O_CREAT, 0644), "open");
  for (int page = 0; page < PAGES; page++) must(pwrite(fd, buffer, 4096, page * 4096L), "pwrite");
  must(fsync(fd), "fsync");
  mkdir("a", 0755); mkdir("a/b", 0755); mkdir("a/b/c", 0755); mkdir("a/b/c/d", 0755); mkdir("a/b/c/d/e", 0755);
  must(link("file", "a/b/c/d/e/file"), "link");
  mkdir("many", 0755);
  for (int i = 0; i < 1000; i++) {
    char name[32];
    sprintf(name, "many/%d", i);
    must(close(open(name, O_CREAT | O_WRONLY, 0644)), "create");
  }
  double gate = time_of(enter, 50000);
  double r4 = time_of(read4k, 20000), r64 = time_of(read64k, 2000);
  double w4 = time_of(write4k, 10000), w64 = time_of(write64k, 1000);
  double rp = (r64 - r4) / 15, wp = (w64 - w4) / 15;
  double close1 = time_of(duplicate, 20000) / 2;
  double st = time_of(near, 20000);
  double component = (time_of(far, 20000) - st) / 5;
  printf("enter %.0f\\ncomponent %.0f\\n", gate, component);
  printf("lookup %.0f\\n", time_of(absent, 2000) - st);
  printf("open %.0f\\nclose %.0f\\n", time_of(openclose, 20000) - close1 - gate - component, close1 - gate);
  printf("read %.0f\\nwrite %.0f\\nreadPage %.0f\\nwritePage %.0f\\n", r4 - rp - gate, w4 - wp - gate, rp, wp);
  must(fsync(fd), "fsync");
  direct = open("file", O_RDONLY | O_DIRECT);
  if (direct >= 0) printf("direct %.0f\\n", time_of(readdirect, 200) - gate);
  printf("seek %.0f\\n", time_of(seek, 50000) - gate);
  printf("synchronise %.0f\\n", time_of(rest, 8) - gate);
  printf("attributes %.0f\\n", time_of(fstatus, 20000) - gate);
  printf("entry %.0f\\n", time_of(entry, 1000) / 2 - gate - component);
  printf("listed %.0f\\n", time_of(list, 20) / 1000);
  printf("fault %.0f\\n", time_of(fault, 20) / (PAGES / 16));
  return 0;
}
`;

// Ctrl-C ends the program that runs, which is seen there.
process.on('SIGINT', () => {});
const folder = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'system-calls-'));
try {
  writeFileSync(join(folder, 'measure.c'), program);
  run('cc', ['-O2', '-o', 'measure', 'measure.c']);
  for (const line of run('./measure', []).trim().split('\n')) {
    const [name, ns] = line.split(' ');
    process.stdout.write(`${name.padEnd(12)} ${ns.padStart(7)} ns\n`);
  }
} finally {
  rmSync(folder, { recursive: true });
}

function run(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  if (error !== undefined || status !== 0) {
    process.stderr.write(`error: ${command} failed: ${error?.message ?? stderr}\n`);
    rmSync(folder, { recursive: true, force: true });
    process.exit(2);
  }
  return stdout;
}
