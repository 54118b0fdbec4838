import { processTreeMs } from '../timing/process-tree-ms.ts';

/** The cost of work on frames. */
export interface Measured {
  /** Frames a second. */
  rate: number;
  /**
   * Milliseconds of processor time a frame, of this process and its descendants; undefined if the system does not tell.
   */
  coresMs?: number | undefined;
}

/** Measures work on `frames` frames. */
export async function measureWork(frames: number, work: () => Promise<unknown>): Promise<Measured> {
  const [startedMs, before] = [performance.now(), processTreeMs()];
  await work();
  const seconds = (performance.now() - startedMs) / 1000;
  const after = processTreeMs();
  return { rate: frames / seconds, coresMs: after === undefined ? undefined : (after - before!) / frames };
}
