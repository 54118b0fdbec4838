import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { JobState } from '@halogrid/proto';
import { type PipelineIdentity, readFeatures, readFinishedJob } from '@halogrid/search';
import { resultsVersion } from '@halogrid/service';
import { redactUri } from '@halogrid/sources';
import { connectCoordinator } from '../client/coordinator-client.ts';
import { startLocalCluster } from '../cluster/local-cluster.ts';
import { followJob } from '../progress/follow-job.ts';

const silent = { show() {}, note() {}, end() {} };

/**
 * The histograms of images by an index's pipeline, in their order: those of a job of `run` on this machine, whose output is thrown
 * away. Rejects with one sentence where an image cannot be read, or is a video.
 */
export async function computeImages(uris: readonly string[], pipeline: PipelineIdentity): Promise<Float64Array[]> {
  if (pipeline.resultsVersion !== resultsVersion) {
    throw new Error(
      `The index holds results version ${pipeline.resultsVersion} and this halogrid computes ${resultsVersion}: ` +
        'index jobs of this version, or ask for frames of the index',
    );
  }
  const out = await mkdtemp(join(tmpdir(), 'halogrid-query-'));
  const cluster = await startLocalCluster({ nodes: 1, device: 'cpu', note: () => {} });
  const client = connectCoordinator(cluster.address, cluster.security);
  try {
    const { operations, grid } = pipeline;
    const spec = {
      sources: [...new Set(uris)],
      pipeline: { operations: operations.map((operation) => ({ ...operation })) },
      out: pathToFileURL(out).href,
      mapFormat: 'none',
      tilePx: 0,
      batchFrames: 0,
      grid: { ...grid },
    };
    const { jobId } = await client.submit({ spec, nameOutByJob: false });
    const job = await Promise.race([followJob(client, jobId, silent), cluster.broken]);
    const reason = job.reasons[0];
    if (reason) throw new Error(`The query '${redactUri(reason.example)}' cannot be used: ${reason.error}`);
    if (job.state !== JobState.COMPLETE) throw new Error(`The query cannot be computed: ${job.error}`);
    const computed = new Map<string, Float64Array>();
    for await (const { uri, frame, bins } of readFeatures(await readFinishedJob(out))) {
      if (frame > 0) throw new Error(`'${uri}' has more than one frame: index it, and ask for one as PATH#FRAME`);
      computed.set(uri, Float64Array.from(bins));
    }
    return uris.map((uri) => {
      const bins = computed.get(redactUri(uri));
      if (!bins) throw new Error(`The query '${redactUri(uri)}' is no image file`);
      return bins;
    });
  } finally {
    client.close();
    await cluster.stop();
    await rm(out, { recursive: true, force: true });
  }
}
