import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
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

test('a survey of recordings ends after the most segments that its caller allows', async () => {
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

test('a survey of more recordings than allowed segments ends at the second recording', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-survey-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (let i = 0; i < 3; i++) symlinkSync(fileURLToPath(recording), join(folder, `${i}.mp4`));
  const many = { ...spec, sources: [pathToFileURL(folder).href], batchFrames: 0 };
  let totals = () => ({ segments: 0, sources: 0 });
  const begun: Parameters<typeof surveyJob>[3] = (soFar) => {
    totals = () => ({ segments: soFar.segments, sources: soFar.sources });
  };
  await assert.rejects(surveyJob(many, undefined, undefined, begun, 2), { name: 'LongPlanError' });
  assert.deepEqual(totals(), { segments: 1, sources: 80 });
});
