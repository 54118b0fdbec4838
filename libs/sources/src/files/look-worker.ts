// Runs in a worker thread: looks files of folders up for LookThreads, by system calls.
import { serveOrders } from '@halogrid/threads';
import { nativeCalls } from './native-calls.ts';
import { NativeFolder } from './native-folder.ts';

/** Names in a folder that the process has open, each with a NUL behind it. */
export interface LookOrder {
  folder: number;
  names: Uint8Array;
  count: number;
}

/** For each name the size in bytes and the time of change in milliseconds; NaN if NativeFolder tells nothing. */
export type LookAnswer = Float64Array<ArrayBuffer>;

const calls = nativeCalls();

serveOrders<LookOrder, LookAnswer>(
  ({ folder, names, count }) => {
    const answer = new Float64Array(2 * count).fill(Number.NaN);
    if (!calls) return answer;
    const opened = NativeFolder.of(folder, calls);
    const text = Buffer.from(names.buffer, names.byteOffset, names.byteLength).toString('utf8', 0, names.length - 1);
    for (const [i, name] of text.split('\0').entries()) {
      const found = opened.look(name);
      if (found) answer.set([found.sizeBytes, found.mtimeMs], 2 * i);
    }
    return answer;
  },
  { moved: ({ buffer }) => [buffer] },
);
