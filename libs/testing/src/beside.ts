/** How long two things took in this run, in milliseconds. */
export interface Beside {
  ms: number;
  controlMs: number;
}

/**
 * Times `act`, and times `control` right before and right after it; the slower control counts. A test may only claim
 * how long something takes compared with something else on the same machine at the same time.
 */
export async function beside(act: () => unknown, control: () => unknown): Promise<Beside> {
  const before = await timed(control);
  const ms = await timed(act);
  const after = await timed(control);
  return { ms, controlMs: Math.max(before, after) };
}

async function timed(act: () => unknown): Promise<number> {
  const startMs = performance.now();
  await act();
  return performance.now() - startMs;
}
