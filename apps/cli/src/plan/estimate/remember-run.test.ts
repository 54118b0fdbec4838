import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlanTotals } from '@halogrid/coordinator/plan';
import { createPipeline } from '@halogrid/kernels';
import { JobState, JobStatus } from '@halogrid/proto';
import { type EndedRun, runToKeep, scaleTotals } from './remember-run.ts';
import { thisMachine } from './this-machine.ts';
import { startSeconds, workParts } from './work-parts.ts';

const nothing = { stagingBytes: 0, resultsBytes: 0 };
/** A quarter of an archive of 8,000 frames; a batch of 500 is being filled. */
const part: PlanTotals = {
  sources: 2000,
  kept: 0,
  quarantined: 0,
  unknown: 0,
  pixels: 200_000,
  shards: 3,
  tiles: 0,
  segments: 0,
  videoFrames: 0,
  haloPixels: 0,
  largest: { width: 10, height: 10, ...nothing },
  batch: nothing,
  all: nothing,
  scratchBytes: 0,
  output: { mapsBytes: 400_000, featuresBytes: 0, histogramBytes: 0 },
  work: {
    inputs: 1500,
    kinds: { jpeg: { units: 1500, opens: 1500, pixels: 150_000, bytes: 3000 } },
    bins: 1500,
    kernelPixels: { u8: 150_000, u16: 0 },
    knownPixels: [{ u8: 75_000, u16: 0 }],
    previews: 20,
    previewPixels: 2000,
    remoteFiles: 150,
    remoteBytes: 300,
  },
};
const whole = { sources: 8000, shards: 12, pixels: 800_000 };

const counts = { ...whole, frames: 7500, shardsDone: 12, attempts: 12, quarantined: 500 };
const job = JobStatus.fromPartial({ state: JobState.COMPLETE, submittedMs: 1000, finishedMs: 3500, counts });
const pipelines = [createPipeline([{ kernel: 'lbp', parameters: {} }])];
const setup = { pipelines, mapFormat: 'tiff', nodes: 1, cores: 4 };
const ran: EndedRun = {
  costs: { totals: part, setup, slowdown: Promise.resolve(1.5) },
  nodes: [{ device: { kind: 'cpu', name: 'EPYC', driver: '' } }],
  asked: 'auto',
  startSeconds: 3 * startSeconds(setup),
};

test('a run is remembered with the parts of the whole job, by the device that computed it', () => {
  assert.deepEqual(runToKeep(job, ran, 1.5), {
    machine: thisMachine(),
    device: 'cpu',
    isChosen: true,
    parts: workParts(scaleTotals(part, whole)!, setup, 'cpu'),
    seconds: 2.5,
    startFactor: 2,
    slowdown: 1.5,
  });
  assert.equal(runToKeep(job, { ...ran, asked: 'cpu' }, 1.5)?.isChosen, false);
});

const [node] = ran.nodes;
const gpu = { device: { ...node!.device!, kind: 'gpu' } };
const unknown = { device: { ...node!.device!, kind: 'abacus' } };
const notBegun = { ...ran.costs, totals: { ...part, shards: 0 } };
const left: [why: string, job: Partial<JobStatus>, run: Partial<EndedRun>][] = [
  ['failed', { state: JobState.FAILED }, {}],
  ['kept results', { counts: { ...job.counts!, kept: 5 } }, {}],
  ['quarantined over a tenth of its inputs', { counts: { ...job.counts!, quarantined: 801 } }, {}],
  ['computed nothing', { counts: { ...job.counts!, frames: 0 } }, {}],
  ['took no time', { finishedMs: 1000 }, {}],
  ['had nodes of two devices', {}, { nodes: [node!, gpu] }],
  ['had no node', {}, { nodes: [] }],
  ['had a device without known costs', {}, { nodes: [unknown] }],
  ['ended before its plan had begun', {}, { costs: notBegun }],
];
for (const [why, status, run] of left) {
  test(`a run that ${why} is not remembered`, () => {
    assert.equal(runToKeep({ ...job, ...status }, { ...ran, ...run }, 1), undefined);
  });
}

test('a part of a plan stands for all of it', () => {
  const scaled = scaleTotals(part, whole)!;
  const near = (value: number | undefined, expected: number) =>
    assert.ok(Math.abs(value! - expected) < 1e-6 * expected, `${value} is not ${expected}`);
  assert.deepEqual([scaled.sources, scaled.shards, scaled.work.previews], [8000, 12, 20]);
  near(scaled.work.inputs, 8000);
  near(scaled.work.kinds.jpeg?.opens, 8000);
  near(scaled.work.kernelPixels.u8, 800_000);
  near(scaled.work.knownPixels[0]!.u8, 400_000);
  near(scaled.work.remoteBytes, 1600);
  near(scaled.output.mapsBytes, 1_600_000);
});

test('a whole plan stays as it is, and one that has not begun tells nothing', () => {
  const complete = { ...part, sources: 1500, pixels: 150_000 };
  assert.deepEqual(scaleTotals(complete, complete), complete);
  assert.equal(scaleTotals({ ...part, shards: 0 }, part), undefined);
});
