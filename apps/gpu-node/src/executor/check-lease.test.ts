import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lease } from '@halogrid/proto';
import { checkLease } from './executor.ts';

const image = { index: 0, uri: 'file:///images/a.png' };
const frames = (sources: object[]): object => ({ work: { $case: 'frames', value: { sources } } });

test('a lease as coordinators give it passes', () => {
  checkLease(Lease.fromPartial({ jobId: 'x', scratch: 'file:///out/scratch', ...frames(Array(4096).fill(image)) }));
  checkLease(Lease.fromPartial({ jobId: 'x', work: { $case: 'tile', value: { source: image } } }));
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
  [frames([{ ...image, uri: 'x'.repeat(20_000) }]), 'frames.sources[0].uri'],
  [frames(Array(65_537).fill(image)), 'the number of frames.sources'],
  [{ work: { $case: 'tile', value: { source: { ...image, version: 'x'.repeat(20_000) } } } }, 'tile.source.version'],
];

for (const [lease, what] of excesses) {
  test(`a lease with too much for ${what} is refused with a sentence that is short`, () => {
    assert.throws(
      () => checkLease(Lease.fromPartial(lease)),
      ({ message }: Error) =>
        message.startsWith('The lease cannot be used: expected') &&
        message.includes(` for ${what} `) &&
        message.length < 500,
    );
  });
}
