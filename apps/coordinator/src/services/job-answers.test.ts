import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnswerQuestion, Questions } from '@halogrid/leadership';
import type { JobRecord, Ledger } from '@halogrid/ledger';
import { type JobHistoryView, JobSpec } from '@halogrid/proto';
import { JobAnswers } from './job-answers.ts';

const record: JobRecord = {
  jobId: 'job',
  spec: JobSpec.fromPartial({
    sources: ['file:///in'],
    grid: { rows: 2, columns: 3 },
    pipeline: { operations: [{ kernel: 'lbp' }] },
  }),
  state: 'running',
  submittedMs: 1,
  finishedMs: 0,
  error: '',
  digest: '',
  planned: true,
  counts: { sources: 1, frames: 1, shards: 1, shardsDone: 0, attempts: 1, pixels: 0, quarantined: 1 },
  reasons: [{ stage: 'read', error: 'It is gone', inputs: 1, example: 'file:///a' }],
};
const history = {
  sinceMs: 5,
  elapsedMs: 7,
  widthMs: 1,
  pixelsPerSecond: [3],
  stages: [],
  lanes: [],
  nodesWithoutLane: 0,
};
const timeline = { sinceMs: 5, nodes: ['n'], shards: [], every: 1 };

/** A coordinator that leads the job, and another one that asks it; `kept` is what the registry has. */
function setStage(kept?: JobHistoryView) {
  let answer: AnswerQuestion = async () => undefined;
  const paused: unknown[] = [];
  const own = new JobAnswers({
    view: { history: () => history, keptHistory: async () => undefined, timeline: () => timeline },
    jobs: { pause: async (...asked) => paused.push(asked) > 0 || undefined },
    ledger: {
      getJob: async () => record,
      mergedSoFar: () => [{ name: '', counted: 2n ** 60n, bins: new BigInt64Array(256).fill(1n) }],
      quarantinedSoFar: () => [{ state: 'quarantined', uri: 'file:///a', stage: 'read', error: 'It is gone' }],
    } as unknown as Ledger,
    cells: { sum: async ({ cell }) => ({ bins: new Float64Array(256).fill(cell), sources: 7 }) },
    questions: { answerBy: (by: AnswerQuestion) => (answer = by) } as unknown as Questions,
  });
  const ledger = { mergedSoFar: () => undefined, quarantinedSoFar: () => undefined } as unknown as Ledger;
  const elsewhere = { pause: async () => undefined };
  const view = { history: () => undefined, keptHistory: async () => kept, timeline: () => undefined };
  const ask: Questions['ask'] = (jobId, what) => answer(jobId, what);
  const cells = { sum: () => Promise.reject(new Error('It does not lead the job')) };
  const other = new JobAnswers({
    view,
    jobs: elsewhere,
    ledger,
    cells,
    questions: { ask, answerBy: () => {} } as unknown as Questions,
  });
  const alone = new JobAnswers({ view, jobs: elsewhere, ledger, cells, questions: undefined });
  return { own, other, alone, paused };
}

test('every coordinator answers about a job as its leader does', async () => {
  const { own, other } = setStage();
  for (const known of [own, other]) {
    assert.deepEqual(await known.history(record), history);
    assert.deepEqual(await known.timeline(record), timeline);
    const { counted, channels } = await known.merged(record, {});
    assert.deepEqual([counted, channels[0]!.bins.length], [String(2n ** 60n), 256]);
    const refusal = { name: 'Refusal', kind: 'invalid', message: /for pipeline but received 'none'$/ };
    await assert.rejects(known.merged(record, { pipeline: 'none' }), refusal);
    const ofCell = await known.merged(record, { cell: '1,2' });
    assert.deepEqual(ofCell.cell, { row: 1, column: 2, sources: 7 });
    assert.deepEqual([ofCell.counted, ofCell.channels[0]!.bins], [String(5 * 256), new Array(256).fill('5')]);
    for (const cell of ['2,0', '0,3', '1', 'one,two', '']) {
      const message = `Expected ROW,COLUMN from 0,0 to 1,2 for cell but received '${cell}'`;
      await assert.rejects(known.merged(record, { cell }), { name: 'Refusal', kind: 'invalid', message });
    }
    const { groups, leftOut } = await known.quarantined(record);
    assert.deepEqual([groups.map(({ files }) => files.map(({ uri }) => uri)), leftOut], [[['file:///a']], 0]);
  }
});

test('an ended job has the history that goes on longest, and one whose leader is silent what it has kept', async () => {
  const ended: JobRecord = { ...record, state: 'complete', finishedMs: 9 };
  const longer = { ...history, elapsedMs: 8 };
  const { alone } = setStage(longer);
  assert.deepEqual([await alone.history(ended), await alone.history(record)], [longer, longer]);
  const { own } = setStage();
  assert.deepEqual(await own.history(ended), history);
});

test('if no coordinator knows the answer, the sentence says so', async () => {
  const { alone } = setStage();
  assert.equal(await alone.history(record), undefined);
  const refusal = {
    kind: 'unmet',
    message: /^Job job is led by another coordinator, which does not answer: ask again$/,
  };
  await assert.rejects(alone.merged(record, {}), refusal);
  assert.equal(await alone.mergedSoFar(record, {}), undefined);
  await assert.rejects(alone.quarantined(record), refusal);
  const ended: JobRecord = { ...record, state: 'failed', finishedMs: 9 };
  await assert.rejects(alone.merged(ended, {}), { kind: 'unmet', message: /^Job job is failed: it has no results$/ });
  const complete: JobRecord = { ...record, state: 'complete', finishedMs: 9 };
  await assert.rejects(alone.merged(complete, {}), { kind: 'unmet', message: /: its counts are in histogram\.json / });
});

test('a job is paused by its leader, whichever coordinator is asked', async () => {
  const { own, other, alone, paused } = setStage();
  const pause = { sinceMs: 9, by: 'ann' };
  await own.setPaused(record, pause);
  await other.setPaused(record, pause);
  await other.setPaused(record, undefined);
  assert.deepEqual(paused, [
    ['job', pause],
    ['job', pause],
    ['job', undefined],
  ]);
  await assert.rejects(alone.setPaused(record, pause), { name: 'Refusal', message: /does not answer: ask again$/ });
});
