/**
 * Signals within this time count as one. One Ctrl-C may arrive several times, because the terminal signals every
 * process of a group, and npm and npx pass it on too.
 */
const samePressMs = 300;

let isToldToEnd = false;

/** Whether a signal has asked this process to end; needs shutdownSignal. */
export const isShuttingDown = (): boolean => isToldToEnd;

/**
 * Aborts at the first SIGINT, SIGTERM or SIGHUP (the terminal was closed); a second one ends the process at once with
 * the shell's code for it. The reason is the signal's name.
 */
export function shutdownSignal(): AbortSignal {
  const controller = new AbortController();
  let firstMs = 0;
  const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
  for (const name of Object.keys(codes) as (keyof typeof codes)[]) {
    process.on(name, () => {
      if (!controller.signal.aborted) {
        firstMs = performance.now();
        isToldToEnd = true;
        controller.abort(name);
      } else if (performance.now() - firstMs > samePressMs) {
        process.exit(codes[name]);
      }
    });
  }
  return controller.signal;
}

/** Resolves when `signal` aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
