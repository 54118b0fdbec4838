import { closeSync, fdatasyncSync, openSync, writevSync } from 'node:fs';
import type { OpenFile } from '../../log/log-file.ts';

/**
 * Opens files of a disk whose calls are done one at a time, after `pass` resolves: threads of a real one end what is written
 * side by side in an order that no seed decides.
 */
export function simulatedDisk(pass: () => Promise<void>): OpenFile {
  return async (path, flags) => {
    await pass();
    const fd = openSync(path, flags);
    return {
      writev: async (pieces, at) => {
        await pass();
        return { bytesWritten: writevSync(fd, pieces, at) };
      },
      datasync: async () => {
        await pass();
        fdatasyncSync(fd);
      },
      close: async () => closeSync(fd),
    };
  };
}
