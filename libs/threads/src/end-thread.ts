import type { MessagePort, Worker } from 'node:worker_threads';

const request = 'end';

/**
 * Ends a thread that calls `endWhenAsked`, between two of its tasks. Resolves when the thread has ended; at once if it
 * had ended before. `Worker.terminate()` would stop it anywhere. If that is while a native module is being loaded,
 * Node-API aborts the whole process (seen with koffi: in 1 of 500 coordinators that were asked to end right after their
 * start).
 */
export async function endThread(worker: Worker): Promise<void> {
  if (worker.threadId < 0) return;
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  worker.ref();
  worker.postMessage(request);
  await ended;
}

/** Threads that this one has started. Those left when it exits are stopped anywhere. */
const own = new Set<Worker>();

/** Makes this thread, when asked to end, first end `worker`. */
export function endBefore(worker: Worker): void {
  // A spare thread has several owners, one after another.
  if (own.has(worker)) return;
  own.add(worker);
  worker.once('exit', () => own.delete(worker));
}

/** Called by the thread, with its port, before other listeners are added there. */
export function endWhenAsked(port: MessagePort): void {
  port.on('message', (message) => {
    if (message !== request) return;
    if (own.size === 0) process.exit();
    void Promise.all([...own].map(endThread)).finally(() => process.exit());
  });
}
