import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { IndexVideo } from '@halogrid/imaging';
import { readSources } from '@halogrid/jobs/planned-sources';
import { PreviewChoice, previewSources } from '@halogrid/jobs/preview-choice';
import { createPipeline } from '@halogrid/kernels';
import { JobSpec } from '@halogrid/proto';
import { PlanEmitter } from './plan-emitter.ts';

/** A recording of 256 frames that is cut into two segments. */
const index: IndexVideo = async function* () {
  yield { kind: 'video', width: 8, height: 8, pixel: 'u8', timeBase: { num: 1, den: 25 }, delay: 0 };
  for (let packet = 0; packet < 256; packet++) {
    const isKey = packet % 16 === 0;
    const facts = { packet, pts: packet, dts: packet, position: 100 * packet, size: 9, isHidden: false };
    yield { kind: 'packets', packets: [{ ...facts, isKey, isClean: isKey }] };
  }
  yield { kind: 'end', missing: 0, why: '' };
};

test('no more frames of a segment are chosen for a preview than get one', async () => {
  const pipeline = createPipeline([{ kernel: 'lbp', parameters: {} }]);
  const previews = new PreviewChoice();
  const emitter = new PlanEmitter(JobSpec.fromPartial({}), pipeline, previews, undefined);
  const input = { uri: pathToFileURL(import.meta.filename).href, name: 'a.mp4', sizeBytes: 1, named: true };
  const steps = (await Array.fromAsync(emitter.video({ kind: 'video', input }, index, assert.fail))).flat();
  const shards = steps.flatMap((step) => (step.kind === 'shard' ? [[...readSources(step.shard.work.sources)]] : []));
  const chosen = shards.map((sources) => sources.filter(({ preview }) => preview));
  assert.equal(chosen.length, 2);
  for (const ofSegment of chosen) assert.ok(ofSegment.length <= previewSources, `${ofSegment.length} frames`);
  // The frames of the whole recording that get one are among them.
  assert.equal(previews.chosen.size, previewSources);
  const asked = new Set(chosen.flat().map(({ index: source }) => source));
  assert.deepEqual(
    [...previews.chosen].filter((source) => !asked.has(source)),
    [],
  );
});
