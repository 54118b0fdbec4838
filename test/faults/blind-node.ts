import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratchFolder } from '../scratch-folder.ts';

// Makes a node see less than others, by private mounts or a failing disk.

/** Whether this user may make mounts that other processes do not see. */
export const canMount = (): boolean => {
  const folder = scratchFolder();
  return (
    process.platform === 'linux' &&
    spawnSync('unshare', mounting(`mount -t tmpfs none '${folder}'`, 'true')).status === 0
  );
};

const mounting = (mount: string, ...command: string[]): string[] => [
  ...['-m', '--propagation', 'private', 'sh', '-c', `${mount} && exec "$@"`, 'sh'],
  ...command,
];

/** Makes every process see `folder` also at `place`. */
export function bind(folder: string, place: string): void {
  execFileSync('mount', ['--bind', folder, place]);
}

/** Undoes `bind`, if there is such a mount. */
export function unbind(place: string): void {
  spawnSync('umount', ['-l', place]);
}

/** Whether this user may make mounts that all processes see. */
export const canBind = (): boolean => {
  const place = scratchFolder();
  const { status } = spawnSync('mount', ['--bind', place, place]);
  unbind(place);
  return process.platform === 'linux' && status === 0;
};

/**
 * Arguments, for `HalogridOptions.within`, that make a process see an empty folder there, as if nothing were mounted.
 */
export const withoutMount = (folder: string): string[] => ['unshare', ...mounting(`mount -t tmpfs none '${folder}'`)];

/** Arguments that make a process see another folder there. */
export const withOther = (folder: string, other: string): string[] => [
  'unshare',
  ...mounting(`mount --bind '${other}' '${folder}'`),
];

/** Arguments that give a process private mounts, for `mountIn`. */
export const withOwnMounts: string[] = ['unshare', ...mounting('true')];

/** Changes the mounts of a running process that was started with private mounts. */
export function mountIn(pid: number, command: 'mount' | 'umount', ...words: string[]): void {
  execFileSync('nsenter', ['-t', String(pid), '-m', command, ...words]);
}

/**
 * Environment variables of a process that make every read of a file whose path contains `part` fail with EIO, as on a
 * broken disk. Opening the file and asking for its size still work. Undefined without a C compiler.
 */
export function withBrokenDisk(part: string): Record<string, string> | undefined {
  const folder = scratchFolder();
  mkdirSync(folder, { recursive: true });
  const library = join(folder, 'broken-disk.so');
  writeFileSync(join(folder, 'broken-disk.c'), brokenDisk);
  const compiled = spawnSync('cc', ['-shared', '-fPIC', '-o', library, join(folder, 'broken-disk.c'), '-ldl']);
  return compiled.status === 0 ? { LD_PRELOAD: library, BROKEN_DISK: part } : undefined;
}

const brokenDisk = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_broken(int file) {
  const char *part = getenv("BROKEN_DISK");
  char link[64], path[4096];
  if (!part || file < 3) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, part) != NULL;
}

#define FAILING(name, types, names)                              \
  ssize_t name types {                                           \
    static ssize_t(*real) types;                                 \
    if (!real) real = (ssize_t(*) types)dlsym(RTLD_NEXT, #name); \
    if (!is_broken(file)) return real names;                     \
    errno = EIO;                                                 \
    return -1;                                                   \
  }

FAILING(read, (int file, void *to, size_t bytes), (file, to, bytes))
FAILING(pread, (int file, void *to, size_t bytes, off_t at), (file, to, bytes, at))
FAILING(pread64, (int file, void *to, size_t bytes, off64_t at), (file, to, bytes, at))
FAILING(readv, (int file, const struct iovec *to, int count), (file, to, count))
FAILING(preadv, (int file, const struct iovec *to, int count, off_t at), (file, to, count, at))
FAILING(preadv64, (int file, const struct iovec *to, int count, off64_t at), (file, to, count, at))
`;
