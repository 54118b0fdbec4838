import { processTreeMs } from '../timing/process-tree-ms.ts';

/** What some work on frames took. */
export interface Measured {
  /** Frames a second. */
  rate: number;
  /**
   * Milliseconds of processors a frame, in this process and all that it started; undefined where the system does not
   * tell.
   */
  coresMs?: number | undefined;
}

/** Measures work on so many frames. */
export async function measureWork(frames: number, work: () => Promise<unknown>): Promise<Measured> {
  const [startedMs, before] = [performance.now(), processTreeMs()];
  await work();
  const seconds = (performance.now() - startedMs) / 1000;
  const after = processTreeMs();
  return { rate: frames / seconds, coresMs: after === undefined ? undefined : (after - before!) / frames };
}
