import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobState, JobStatus } from '@halogrid/proto';
import { type EndedRun, runToKeep } from './remember-run.ts';
import { thisMachine } from './this-machine.ts';

const counts = { sources: 20, frames: 19, shards: 3, shardsDone: 3, attempts: 3, pixels: 100, quarantined: 1 };
const job = JobStatus.fromPartial({ state: JobState.COMPLETE, submittedMs: 1000, finishedMs: 3500, counts });
const ran: EndedRun = {
  costs: {
    usualStartSeconds: 2,
    slowdown: Promise.resolve(1.5),
    partsOf: ({ shards }, device) => ({ [device]: shards }),
  },
  nodes: [{ device: { kind: 'cpu', name: 'EPYC', driver: '' } }],
  asked: 'auto',
  startSeconds: 3,
};

test('a run is remembered with what it was made of, by the device that it had', () => {
  assert.deepEqual(runToKeep(job, ran, 1.5), {
    ...{
      machine: thisMachine(),
      device: 'cpu',
      isChosen: true,
      parts: { cpu: 3 },
      seconds: 2.5,
      startFactor: 1,
      slowdown: 1.5,
    },
  });
  assert.equal(runToKeep(job, { ...ran, asked: 'cpu' }, 1.5)?.isChosen, false);
});

test('a run that did less than was planned, or differently, is not', () => {
  const [node] = ran.nodes;
  const gpu = { device: { ...node!.device!, kind: 'gpu' } };
  assert.equal(runToKeep({ ...job, state: JobState.FAILED }, ran, 1), undefined);
  assert.equal(runToKeep({ ...job, counts: { ...counts, kept: 5 } }, ran, 1), undefined);
  assert.equal(runToKeep({ ...job, counts: { ...counts, quarantined: 10 } }, ran, 1), undefined);
  assert.equal(runToKeep(job, { ...ran, nodes: [node!, gpu] }, 1), undefined);
  assert.equal(runToKeep(job, { ...ran, nodes: [] }, 1), undefined);
  assert.equal(runToKeep(job, { ...ran, costs: { ...ran.costs, partsOf: () => undefined } }, 1), undefined);
});
