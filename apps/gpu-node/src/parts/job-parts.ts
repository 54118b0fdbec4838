import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createPipeline, overBands } from '@halogrid/kernels';
import type { Lease } from '@halogrid/proto';
import { histogramShape } from '@halogrid/results/histogram-shape';
import type { PartThread } from '@halogrid/results/part-thread';
import type { PartPipeline } from '@halogrid/results/part-writer';
import { partsFolder } from '@halogrid/results/shard-place';
import { allowedPath } from '@halogrid/sources';
import type { JobParts } from './node-parts.ts';
import { sendPart } from './send-part.ts';

/**
 * The parts of the lease's job: in its scratch folder or, if the node cannot see that, in a temporary folder, from
 * which they are sent. Rejects if the node may not write there.
 */
export async function openJobParts(thread: PartThread, lease: Lease): Promise<JobParts> {
  if (!lease.handOver) return partsBelow(await allowedPath(fileURLToPath(lease.scratch)), thread, lease);
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-parts-'));
  return sentParts(folder, partsBelow(folder, thread, lease), lease);
}

/** Parts in a subfolder of `scratch`. */
function partsBelow(scratch: string, thread: PartThread, lease: Lease): JobParts {
  const pipelines = pipelinesOf(lease);
  const shapes = pipelines.map(({ shape }) => shape);
  const task = { folder: join(scratch, partsFolder), pipelines, captured: lease.captured };
  return {
    async add(shard) {
      let seconds = 0;
      const found = await thread.add(task, shard, (took) => {
        seconds = took;
      });
      return { found, seconds };
    },
    sum: async (shard) => ({ found: { ...(await thread.summarise(shard, shapes)), places: [] }, seconds: 0 }),
    // The callers of `add` get the error.
    flush: () => void thread.flush(task.folder).catch(() => {}),
    close: () => thread.forget(task.folder).catch(() => {}),
  };
}

/**
 * The same parts, each sent to the coordinator once it is written. They are in `folder`, which is removed at the end.
 */
function sentParts(folder: string, parts: JobParts, lease: Lease): JobParts {
  const names = pipelinesOf(lease).map(({ name }) => name);
  // Shards of a part are answered together, before the shards of the next part.
  let last: { part: string; sent: Promise<void> } | undefined;
  return {
    ...parts,
    async add(shard) {
      const kept = await parts.add(shard);
      const part = kept.found.part!;
      const send = () => sendPart(join(folder, partsFolder, part), `${lease.handOver}/${partsFolder}/${part}`, names);
      if (last?.part !== part) last = { part, sent: send() };
      await last.sent;
      return kept;
    },
    async close() {
      await parts.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The pipelines of a lease, and the shape of each pipeline's histograms for a source. */
export function pipelinesOf({ pipelines, pipeline, band, grid: asked }: Lease): PartPipeline[] {
  const grid = { rows: asked?.rows || 1, columns: asked?.columns || 1 };
  const named = pipelines?.named ?? [{ name: '', pipeline }];
  return named.map(({ name, pipeline: its }) => {
    const over = overBands(band?.numbers ?? [], createPipeline(its?.operations ?? []));
    return { name, shape: histogramShape(over, grid) };
  });
}
