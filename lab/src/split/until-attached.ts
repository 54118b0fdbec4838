import { setTimeout as delay } from 'node:timers/promises';
import type { FrameCluster } from '@halogrid/bench/frame-cluster';

/** Opening a GPU takes a second or two. */
const attachWithinMs = 60_000;

/**
 * Resolves when all nodes are attached: they must share the work from its start. Rejects if a node does not come,
 * because its device could not be opened.
 */
export async function untilAttached(cluster: FrameCluster, count: number, what = 'nodes'): Promise<void> {
  const deadlineMs = performance.now() + attachWithinMs;
  for (;;) {
    const { length } = await cluster.nodes();
    if (length === count) return;
    if (performance.now() > deadlineMs) {
      throw new Error(`Expected ${count} ${what} within ${attachWithinMs / 1000} s but there are ${length}`);
    }
    await delay(50);
  }
}
