import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sampleBytes } from '@halogrid/geometry';
import { chunkKinds, maxOriginBytes } from '@halogrid/results';
import { allowedPath } from '@halogrid/sources';
import type { HandedJob } from './hand-over.ts';
import { HandOverError } from './hand-over-error.ts';
import { takeFile } from './take-file.ts';

/** The most bands in a chunk. */
const maxBands = 4;

/**
 * How much larger than its pixels a chunk may be. The chunks in a shard of a Zarr extend past the image by less than
 * `px`, and the shard's index takes less than `bytes`. A sum takes twice the bytes of a pixel, but covers at least four
 * pixels, except in blocks at the edges.
 */
const margins: Partial<Record<string, { px: number; bytes: number }>> = {
  shard: { px: 512, bytes: 2 ** 14 },
  sums: { px: 1, bytes: 0 },
  origin: { px: 0, bytes: maxOriginBytes },
};

/** Keeps a chunk under its name, as `writeChunk` does: whole, or not at all, and never if the job's folder is gone. */
export async function takeChunk(request: IncomingMessage, job: HandedJob, path: string[]): Promise<void> {
  const pipeline = path[0] === 'pipelines' ? job.pipelines.find((name) => name === path[1]) : undefined;
  const [kind, source, name] = pipeline === undefined ? path : path.slice(2);
  const sizes = /^\d{1,10}-\d{1,10}-(\d{1,10})-(\d{1,10})\.([a-z0-9]+)$/.exec(name ?? '');
  const unit = (sampleBytes as Record<string, number | undefined>)[sizes?.[3] ?? ''];
  if (!chunkKinds.some((one) => one === kind) || !sizes || !unit || !job.sources.has(Number(source))) {
    throw new HandOverError(404, 'Expected the chunk of a source of the leases');
  }
  const { px, bytes } = margins[kind!] ?? { px: 0, bytes: 0 };
  const mostBytes = (Number(sizes[1]) + px) * (Number(sizes[2]) + px) * unit * maxBands + bytes;
  const scratch = await allowedPath(fileURLToPath(job.scratch));
  const below = pipeline === undefined ? [] : ['pipelines', pipeline];
  const chunk = [kind!, String(Number(source)), name!];
  await takeFile(request, join(scratch, ...below), chunk, { mostBytes, isDurable: kind === 'origin' });
  await job.objects?.keep([...below, ...chunk].join('/'));
}
