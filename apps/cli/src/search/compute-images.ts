import { checkComputable, type PipelineIdentity } from '@halogrid/search';
import { redactUri } from '@halogrid/sources';
import { framesOfJob } from './frames-of-job.ts';

const silent = { show() {}, note() {}, end() {} };

/**
 * The histograms of images by the pipeline of an index, in the order of `uris`. Rejects with one sentence if an image
 * cannot be read, or is a video or a folder.
 */
export async function computeImages(
  uris: readonly string[],
  pipeline: PipelineIdentity,
  signal: AbortSignal,
): Promise<Float64Array[]> {
  checkComputable(pipeline);
  const spec = {
    sources: [...new Set(uris)],
    pipeline: { operations: pipeline.operations.map((operation) => ({ ...operation })) },
    out: '',
    op: [],
    mapFormat: 'none',
    tilePx: 0,
    batchFrames: 0,
    grid: { ...pipeline.grid },
  };
  const { job, parts } = await framesOfJob(spec, 'cpu', silent, signal);
  const reason = job.reasons[0];
  if (reason) throw new Error(`The query '${redactUri(reason.example)}' cannot be used: ${reason.error}`);
  const computed = new Map<string, Float64Array>();
  for (const { uri, frame, bins } of parts[0]!.frames) {
    if (frame > 0) throw new Error(`'${uri}' has more than one frame: index it, and ask for one as PATH#FRAME`);
    computed.set(uri, Float64Array.from(bins));
  }
  return uris.map((uri) => {
    const bins = computed.get(redactUri(uri));
    if (!bins) throw new Error(`The query '${redactUri(uri)}' is not an image file`);
    return bins;
  });
}
