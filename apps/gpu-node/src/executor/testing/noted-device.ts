import type { BatchResult, NodeDevice } from '../../devices/device.ts';
import { deviceOver } from '../../devices/device-over.ts';

/** Overwrites dense results, as if their memory were used for others at once. */
function spoil({ items }: BatchResult): void {
  for (const { map } of items) map?.bytes.fill(0xee);
}

/**
 * A device that notes its batches, the staging memory that is out, and the maps whose memory was not given back. Maps
 * are overwritten once their memory is given back.
 */
export function noted(inner: NodeDevice, changes: Partial<NodeDevice> = {}) {
  const batches: { items: number; withMap: boolean }[] = [];
  let out = 0;
  let maps = 0;
  const device = deviceOver(inner, {
    async acquire(...asked) {
      const staging = await inner.acquire(...asked);
      out++;
      const release = staging.release.bind(staging);
      staging.release = () => {
        out--;
        release();
      };
      return staging;
    },
    async run(staging, items, pipeline, withMap, keep) {
      batches.push({ items: items.length, withMap });
      if (!keep) out--;
      const result = await inner.run(staging, items, pipeline, withMap, keep);
      if (withMap) maps++;
      const release = (): void => {
        if (withMap) maps--;
        spoil(result);
        result.release?.();
      };
      return { ...result, release };
    },
    ...changes,
  });
  return { device, batches, out: () => out, maps: () => maps };
}
