import { closeSync } from 'node:fs';
import { loadKoffi } from '@halogrid/threads/load-koffi';

const prot = { read: 1, write: 2 } as const;
const mapShared = 1;
const memfd = { closeOnExec: 1, allowSealing: 2 } as const;
const addSeals = 1033;
/**
 * No process can shrink the memory (which would kill a process that reads the lost part), grow it, or remove these
 * seals.
 */
const seals = 1 | 2 | 4;
const parentDeathSignal = 1;
const sigkill = 9;

/** The functions of the C library that these processes call. */
function openLibc() {
  const lib = loadKoffi().load('libc.so.6');
  return {
    memfdCreate: lib.func('int memfd_create(const char *name, unsigned int flags)'),
    fallocate: lib.func('int posix_fallocate(int fd, int64_t offset, int64_t bytes)'),
    fcntl: lib.func('int fcntl(int fd, int command, ...)'),
    mmap: lib.func('uintptr_t mmap(uintptr_t at, size_t bytes, int prot, int flags, int fd, int64_t offset)'),
    munmap: lib.func('int munmap(uintptr_t at, size_t bytes)'),
    memcpy: lib.func('uintptr_t memcpy(uintptr_t to, uintptr_t from, size_t bytes)'),
    prctl: lib.func('int prctl(int option, unsigned long value, unsigned long b, unsigned long c, unsigned long d)'),
  };
}
let opened: ReturnType<typeof openLibc> | undefined;
export const libc = (): ReturnType<typeof openLibc> => {
  opened ??= openLibc();
  return opened;
};

/**
 * Creates memory without a name that other processes can map, and returns its file descriptor. All of it is allocated,
 * so a write to it never fails. Throws Error if the system has too little memory or forbids it.
 */
export function createMemory(bytes: number): number {
  const { memfdCreate, fallocate, fcntl } = libc();
  const fd = memfdCreate('halogrid-luma', memfd.closeOnExec | memfd.allowSealing);
  if (fd < 0) throw new Error('the system forbids it');
  const code = fallocate(fd, 0, bytes);
  if (code !== 0) {
    closeSync(fd);
    throw new Error(`the system has no ${bytes} bytes (error ${code})`);
  }
  fcntl(fd, addSeals, 'int', seals);
  return fd;
}

/**
 * Maps the memory of a file descriptor and returns its address; it must be unmapped. Throws Error if it cannot be
 * mapped.
 */
export function mapMemory(fd: number, bytes: number): number {
  const at = Number(libc().mmap(0, bytes, prot.read | prot.write, mapShared, fd, 0));
  if (!(at > 0 && at < 2 ** 53)) throw new Error('it cannot be mapped');
  return at;
}

/** The mapped bytes at an address; valid until they are unmapped. */
export const viewMemory = (address: number, bytes: number): Uint8Array =>
  new Uint8Array(loadKoffi().view(BigInt(address), bytes));

/** Has the system kill this process when the one that started it ends, even if this process is stopped or hangs. */
export function dieWithParent(): void {
  libc().prctl(parentDeathSignal, sigkill, 0, 0, 0);
}
