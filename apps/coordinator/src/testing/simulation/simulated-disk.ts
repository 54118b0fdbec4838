import { closeSync, fdatasyncSync, openSync, statSync, writevSync } from 'node:fs';
import type { LogDisk } from '@halogrid/ledger';

/**
 * A disk whose calls are done one at a time, those that write after `pass` resolves: threads of a real one end what is asked
 * side by side in an order that no seed decides.
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
      // As of a FileHandle, a second call does nothing: the number may be that of another file by then.
      close: async () => {
        if (isOpen) closeSync(fd);
        isOpen = false;
      },
    };
  };
  return { open, stat: async (path) => statSync(path, { bigint: true }), syncFolder: async () => {} };
}
