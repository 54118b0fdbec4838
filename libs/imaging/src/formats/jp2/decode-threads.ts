import { Worker } from 'node:worker_threads';
import {
  Budget,
  LateThread,
  limitConcurrency,
  poolThreads,
  sayEnd,
  ThreadClient,
  type ThreadEnd,
} from '@halogrid/threads';
import type { DecodedStream, StreamOrder } from './openjpeg.ts';

type DecodeThread = ThreadClient<StreamOrder, DecodedStream>;

function startThread(): DecodeThread {
  const worker = new Worker(new URL('./jp2-worker.ts', import.meta.url));
  const ended = (end: ThreadEnd): Error => new Error(`A thread that decodes JPEG 2000 has ended: ${sayEnd(end)}`);
  return new ThreadClient(worker, { ended });
}

const count = poolThreads();
const decoding = limitConcurrency(count);
const idle = Array.from({ length: count }, () => new LateThread(startThread));

/** The most samples that all threads decode at once: the decoder holds six to eight bytes for each. */
const samplesAtOnce = new Budget(2 ** 27);

/** Decodes a file on one of as many threads as libuv's pool has. `decoded`: the samples of all its components. */
export async function decodeOnThread(order: StreamOrder, decoded: number): Promise<DecodedStream> {
  await samplesAtOnce.acquire(decoded);
  try {
    return await decoding(async () => {
      const thread = idle.pop()!;
      try {
        return await thread.client.order(order, [order.file.buffer as ArrayBuffer]);
      } finally {
        idle.push(thread);
      }
    });
  } finally {
    samplesAtOnce.release(decoded);
  }
}
