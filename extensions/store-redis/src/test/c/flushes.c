/*
 * Preloaded into a server, this notes how far each of its files has been flushed to the disk: a line with
 * inode and length for every fsync, fdatasync and ftruncate. What a file is longer than that, a
 * failure of the power could take away.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int notes = -1;
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate)(int, off_t);

__attribute__((constructor)) static void begin(void) {
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate");
  const char *path = getenv("FLUSHES");
  if (path) {
    notes = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  }
}

static void note(int fd, off_t length) {
  struct stat file;
  if (notes >= 0 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode)) {
    dprintf(notes, "%llu %lld\n", (unsigned long long) file.st_ino, (long long) length);
  }
}

/* Taken before the flush: what is written during it may not be part of it. */
static off_t length(int fd) {
  struct stat file;
  return fstat(fd, &file) == 0 ? file.st_size : 0;
}

static int flushed(int fd, int (*flush)(int)) {
  off_t before = length(fd);
  int result = flush(fd);
  if (result == 0) {
    note(fd, before);
  }
  return result;
}

int fsync(int fd) { return flushed(fd, real_fsync); }

int fdatasync(int fd) { return flushed(fd, real_fdatasync); }

int ftruncate(int fd, off_t to) {
  int result = real_ftruncate(fd, to);
  if (result == 0) {
    note(fd, to);
  }
  return result;
}

int ftruncate64(int fd, off64_t to) { return ftruncate(fd, to); }
