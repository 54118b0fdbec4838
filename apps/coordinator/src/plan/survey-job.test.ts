import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobSpec } from '@halogrid/proto';
import { surveyJob } from './survey-job.ts';

const recording = new URL('../../../../samples/videos/cam1.mp4', import.meta.url).href;
const spec = JobSpec.fromPartial({
  sources: [recording],
  out: 'file:///nowhere/out',
  pipeline: { operations: [{ kernel: 'lbp', parameters: {} }] },
  mapFormat: 'none',
  batchFrames: 10,
});

test('a survey of recordings ends behind as many segments as are to be listed for it', async () => {
  const whole = await surveyJob(spec);
  assert.ok(whole.segments > 2);
  let listed = () => 0;
  const begun: Parameters<typeof surveyJob>[3] = (soFar) => {
    listed = () => soFar.segments;
  };
  await assert.rejects(surveyJob(spec, undefined, undefined, begun, 1), { name: 'LongPlanError' });
  assert.equal(listed(), 2);
  assert.deepEqual((await surveyJob(spec, undefined, undefined, undefined, whole.segments)).segments, whole.segments);
});
