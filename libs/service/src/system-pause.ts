/** Waits for `ms` milliseconds, or until the signal aborts. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

/** A pause with a timer of the system. */
export const systemPause: Pause = (ms, signal) =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
