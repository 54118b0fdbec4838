import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { maxSources } from '@halogrid/proto';
import { toGrpcStatus } from '../services/grpc-status.ts';
import { refusalOf, setStage, specOf, submit, writeImages } from '../testing/coordinator-stage.ts';
import type { JobDriver } from './job-driver.ts';
import { maxOpenJobs, submitJob } from './submit-job.ts';

test('a job of too many sources, of too many kernels or with a URI without end is refused, and leaves nothing', async (t) => {
  const { jobs, folder } = await setStage(t);
  const [image] = await writeImages(folder, 1);
  const lbp = { kernel: 'lbp', parameters: {}, border: '' };
  for (const [spec, sentence] of [
    [specOf(folder, Array(maxSources + 1).fill(image)), /^Expected 1 to 65536 for the number of sources but/],
    [
      specOf(folder, [`${image}${'x'.repeat(8_192)}`]),
      /^Expected at most 8192 characters for the length of sources\[0\] but/,
    ],
    [specOf(folder, [image!], { pipeline: { operations: Array(9).fill(lbp) } }), /1 to 8/],
  ] as const) {
    const { code, details } = await refusalOf(submit(jobs, spec));
    assert.equal(code, status.INVALID_ARGUMENT);
    assert.match(details, sentence);
  }
  assert.deepEqual(await readdir(folder), ['image-0.pgm']);
});

test('a job beyond those that may be open is RESOURCE_EXHAUSTED', async () => {
  const jobs = { openJobs: maxOpenJobs } as JobDriver;
  const refused = await submitJob(jobs, assert.fail, { request: { spec: undefined, nameOutByJob: false } }).catch(
    toGrpcStatus,
  );
  assert.deepEqual(refused, {
    code: status.RESOURCE_EXHAUSTED,
    details: '1000 jobs run or wait already: wait until one has ended, or cancel one',
  });
});
