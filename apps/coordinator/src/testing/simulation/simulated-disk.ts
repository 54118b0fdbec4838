import {
  closeSync,
  copyFileSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  renameSync,
  writevSync,
} from 'node:fs';
import type { SpoolDisk, SpoolFile } from '../../ledger/histogram-spool.ts';

/**
 * A disk whose calls are done one at a time, after `pass` resolves: threads of a real one end what is written side by side in an order
 * that no seed decides.
 */
export function simulatedDisk(pass: () => Promise<void>): SpoolDisk {
  const fileOf = (fd: number): SpoolFile => ({
    fd,
    stat: async () => fstatSync(fd),
    truncate: async (bytes) => ftruncateSync(fd, bytes),
    writev: async (blocks, at) => {
      await pass();
      return { bytesWritten: writevSync(fd, blocks, at) };
    },
    datasync: async () => {
      await pass();
      fdatasyncSync(fd);
    },
    close: async () => closeSync(fd),
  });
  return {
    open: async (path, flags) => {
      await pass();
      return fileOf(openSync(path, flags));
    },
    copyFile: async (from, to, mode) => {
      await pass();
      copyFileSync(from, to, mode);
    },
    rename: async (from, to) => renameSync(from, to),
  };
}
