// Reads whole files into memory of the caller; each thread takes the next file. This is the most that disks, the system
// and that memory give, without a node.
//   cc -O2 -shared -fPIC -pthread -o read-files.so read-files.c
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct work {
  char **paths;
  int count;
  unsigned char *slots;
  size_t slot_bytes;
  int slots_each;
  atomic_int next;
  atomic_int started;
  atomic_int failed;
};

static void *read_some(void *argument) {
  struct work *work = argument;
  unsigned char *own = work->slots + atomic_fetch_add(&work->started, 1) * work->slots_each * work->slot_bytes;
  for (int turn = 0;; turn = (turn + 1) % work->slots_each) {
    int i = atomic_fetch_add(&work->next, 1);
    if (i >= work->count) return NULL;
    int file = open(work->paths[i], O_RDONLY);
    size_t done = 0;
    ssize_t got = -1;
    while (file >= 0 && done < work->slot_bytes && (got = read(file, own + turn * work->slot_bytes + done, work->slot_bytes - done)) > 0) done += got;
    if (got < 0) atomic_store(&work->failed, 1);
    if (file >= 0) close(file);
  }
}

// Seconds of reading `count` files, whose paths are lines of `lines`; negative if a file cannot be read. Each thread
// has as many slots in turn as `slots` has for it; what of a file is beyond a slot stays unread.
double read_files(const char *lines, int count, unsigned char *slots, size_t slot_bytes, int slots_each, int threads) {
  char *copy = strdup(lines), *rest = copy;
  char **paths = malloc(count * sizeof *paths);
  for (int i = 0; i < count; i++) paths[i] = strsep(&rest, "\n");
  struct work work = {.paths = paths, .count = count, .slots = slots, .slot_bytes = slot_bytes, .slots_each = slots_each};
  pthread_t ids[threads];
  struct timespec from, to;
  clock_gettime(CLOCK_MONOTONIC, &from);
  for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, read_some, &work);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  clock_gettime(CLOCK_MONOTONIC, &to);
  free(paths);
  free(copy);
  return work.failed ? -1 : to.tv_sec - from.tv_sec + (to.tv_nsec - from.tv_nsec) / 1e9;
}
