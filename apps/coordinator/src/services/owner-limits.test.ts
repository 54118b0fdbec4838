import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobRecord } from '@halogrid/ledger';
import { JobSpec } from '@halogrid/proto';
import { noRules, parseOwners } from '@halogrid/service';
import fc from 'fast-check';
import { OwnerLimits } from './owner-limits.ts';

const spec = JobSpec.fromPartial({});

/** Jobs in the ledger, and a function that submits one more and ends when the test says so. */
function setStage(rules: string) {
  const records: Pick<JobRecord, 'jobId' | 'owner' | 'finishedMs'>[] = [];
  const limits = new OwnerLimits(
    () => (rules === '' ? noRules : parseOwners(rules, 'here')),
    async () => records as JobRecord[],
  );
  const submit = (owner: string, priority?: number) =>
    limits.within(owner, { ...spec, priority }, async (named) => {
      const jobId = `job-${records.length}`;
      named(jobId);
      records.push({ jobId, owner, finishedMs: 0 });
      // The answer comes a moment after the ledger has the job.
      await Promise.resolve();
      return jobId;
    });
  return { records, submit };
}

test('an owner has as many open jobs as it may, also if several are submitted at once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 6 }), fc.array(fc.nat(3), { maxLength: 5 }), async (most, waves) => {
      const { records, submit } = setStage(`ann jobs=${most}\n`);
      for (const more of waves) await Promise.allSettled(Array.from({ length: more }, () => submit('ann')));
      const asked = waves.reduce((sum, more) => sum + more, 0);
      assert.equal(records.length, Math.min(most, asked));
      await submit('bob');
      for (const record of records) record.finishedMs = 1;
      if (most > 0) await submit('ann');
    }),
  );
});

test('a job beyond a limit is refused with a sentence that names the limit and the owner', async () => {
  const { submit } = setStage('* jobs=1 priority=10\nbob jobs=0\n');
  await submit('ann', 10);
  await assert.rejects(submit('ann'), {
    kind: 'exhausted',
    message: "'ann' may have 1 open jobs, and has as many: wait until one has ended, or cancel one",
  });
  await assert.rejects(submit('bob'), { kind: 'exhausted', message: /^'bob' may have 0 open jobs, and has as many$/ });
  await assert.rejects(submit('eve', 11), {
    kind: 'invalid',
    field: 'priority',
    message: "Expected 10 or less, as the coordinator allows 'eve', for priority but received '11'",
  });
});

test('without rules, nobody has limits', async () => {
  const { submit } = setStage('');
  for (let i = 0; i < 50; i++) await submit('', 100);
});
