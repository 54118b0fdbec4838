import { closeSync, fdatasyncSync, openSync, statSync, writevSync } from 'node:fs';
import type { LogDisk } from '@halogrid/ledger';

/**
 * A disk that does one call at a time, and writes only after `pass` resolves: the threads of a real disk end parallel
 * calls in an order that no seed decides.
 */
export function simulatedDisk(pass: () => Promise<void>): LogDisk {
  const open: LogDisk['open'] = async (path, flags) => {
    await pass();
    const fd = openSync(path, flags);
    let isOpen = true;
    return {
      writev: async (pieces, at) => {
        await pass();
        return { bytesWritten: writevSync(fd, pieces, at) };
      },
      datasync: async () => {
        await pass();
        fdatasyncSync(fd);
      },
      // As with a FileHandle, a second call does nothing: another file may have the number by then.
      close: async () => {
        if (isOpen) closeSync(fd);
        isOpen = false;
      },
    };
  };
  return { open, stat: async (path) => statSync(path, { bigint: true }), syncFolder: async () => {} };
}
