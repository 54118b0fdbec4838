import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lease, maxSourceBlockBytes } from '@halogrid/proto';
import { checkLease } from './executor.ts';

test('a usual lease of a coordinator passes', () => {
  checkLease(Lease.fromPartial({ jobId: 'x', scratch: 'file:///out/scratch', sources: new Uint8Array(2 ** 22) }));
  checkLease(Lease.fromPartial({ jobId: 'x', work: { $case: 'tile', value: { width: 1, height: 1 } } }));
});

const excesses: [lease: object, what: string][] = [
  [{ jobId: 'x'.repeat(201) }, 'job_id'],
  [{ jobId: 'a\u001b[2J' }, 'job_id'],
  [{ scratch: 'x'.repeat(20_000) }, 'scratch'],
  [{ handOver: 'x'.repeat(1_001) }, 'hand_over'],
  [
    { pipeline: { operations: [{ kernel: 'k'.repeat(101), parameters: {}, border: '' }] } },
    'pipeline.operations[0].kernel',
  ],
  [{ sources: new Uint8Array(maxSourceBlockBytes + 1) }, 'sources'],
  [{ work: { $case: 'frames', value: { segment: { version: 'x'.repeat(20_000) } } } }, 'frames.segment.version'],
];

for (const [lease, what] of excesses) {
  test(`a lease with too much for ${what} is refused with a short sentence`, () => {
    assert.throws(
      () => checkLease(Lease.fromPartial(lease)),
      ({ message }: Error) =>
        message.startsWith('The lease cannot be used: expected') &&
        message.includes(` for ${what} `) &&
        message.length < 500,
    );
  });
}
