import { closeSync } from 'node:fs';
import { loadKoffi } from '@halogrid/threads/load-koffi';

const prot = { read: 1, write: 2 } as const;
const mapShared = 1;
const memfd = { closeOnExec: 1, allowSealing: 2 } as const;
const addSeals = 1033;
/** Nobody can make it smaller, which would end whoever reads what is gone, or larger, or take that back. */
const seals = 1 | 2 | 4;
const parentDeathSignal = 1;
const sigkill = 9;

/** What of the C library these processes call. */
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
 * Memory without a name that other processes can map, all of it there: what is written to it never fails. Throws Error
 * where the system has none to give or forbids it.
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

/** The address of memory of that file; it is to be unmapped. Throws Error where it cannot be mapped. */
export function mapMemory(fd: number, bytes: number): number {
  const at = Number(libc().mmap(0, bytes, prot.read | prot.write, mapShared, fd, 0));
  if (!(at > 0 && at < 2 ** 53)) throw new Error('it cannot be mapped');
  return at;
}

/** What lies there, for as long as it is mapped. */
export const viewMemory = (address: number, bytes: number): Uint8Array =>
  new Uint8Array(loadKoffi().view(BigInt(address), bytes));

/** Has this process killed as soon as the one that started it ends, even where it is stopped or hangs. */
export function dieWithParent(): void {
  libc().prctl(parentDeathSignal, sigkill, 0, 0, 0);
}
