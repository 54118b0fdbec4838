import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobSpec } from '@halogrid/proto';
import { isSameJob } from './job-claim.ts';
import { runningJobJson } from './job-json.ts';

const plain = JobSpec.fromPartial({ sources: ['file:///in/a.png'], out: 'file:///out', mapFormat: 'none' });
const secret = { ...plain, sources: ['https://host/a.png?key=hidden'] };
const claimOf = (spec: JobSpec) => JSON.parse(runningJobJson({ jobId: 'job', spec }, { host: 'here', pid: 1 }));

/** Options that may be given again, or differently, for an interrupted job to go on. */
const free: Partial<JobSpec>[] = [
  { checksum: true },
  { fresh: true },
  { maxQuarantined: { limit: { $case: 'inputs', value: 3 } } },
  { maxQuarantined: { limit: { $case: 'percent', value: 2.5 } } },
  { waitForNode: true },
];

for (const more of free) {
  test(`a job with ${JSON.stringify(more)} is the same as one without`, () => {
    for (const spec of [plain, secret]) {
      assert.ok(isSameJob(claimOf(spec), { ...spec, ...more }));
      assert.ok(isSameJob(claimOf({ ...spec, ...more }), spec));
    }
  });
}

test('a job of another map format or priority is another', () => {
  for (const spec of [plain, secret]) {
    assert.ok(!isSameJob(claimOf(spec), { ...spec, mapFormat: 'tiff' }));
    assert.ok(!isSameJob(claimOf(spec), { ...spec, priority: 1 }));
  }
});
