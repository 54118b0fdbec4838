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
  return shutdownSignals(1)[0]!;
}

/** As `shutdownSignal`, in several steps: the first signal aborts the first, the next one the second; then it ends. */
export function shutdownSignals(steps: number): AbortSignal[] {
  const controllers = Array.from({ length: steps }, () => new AbortController());
  let lastMs = Number.NEGATIVE_INFINITY;
  const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
  for (const name of Object.keys(codes) as (keyof typeof codes)[]) {
    process.on(name, () => {
      if (performance.now() - lastMs <= samePressMs) return;
      lastMs = performance.now();
      isToldToEnd = true;
      const next = controllers.find(({ signal }) => !signal.aborted);
      if (next) next.abort(name);
      else process.exit(codes[name]);
    });
  }
  return controllers.map(({ signal }) => signal);
}

/** Resolves when `signal` aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
