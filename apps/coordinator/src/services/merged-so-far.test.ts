import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobRecord } from '@halogrid/ledger';
import { JobSpec } from '@halogrid/proto';
import { messageOf, writeMessage } from '@halogrid/proto/json';
import { histogramJson } from '@halogrid/results/histogram-json';
import { mergedSoFar } from './merged-so-far.ts';

const spec = JobSpec.fromPartial({
  pipeline: { operations: [{ kernel: 'lbp', parameters: {}, border: '' }] },
  grid: { rows: 1, columns: 1 },
});

test('counts are exact in JSON, as in histogram.json', async () => {
  const bins = new BigUint64Array(256);
  bins.set([0n, 7n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 60n + 3n]);
  const counted = bins.reduce((sum, count) => sum + count, 0n);
  const ledger = {
    mergedSoFar: () => [{ name: '', counted, bins }],
    getJob: () => assert.fail('Its state is not needed'),
  };
  const cells = { sum: () => assert.fail('Nobody asks for a cell') };
  const merged = await mergedSoFar({ jobId: 'job', spec } as JobRecord, {}, ledger, cells);
  const written = JSON.parse(JSON.stringify(writeMessage(messageOf('MergedSoFar'), merged!)));
  const channels = [{ name: 'gray', bins }];
  const description = { convention: '' } as Parameters<typeof histogramJson>[0]['description'];
  const file = JSON.parse(histogramJson({ kernel: 'lbp', counted, channels, description }));
  assert.deepEqual(
    { counted: written.counted, channels: written.channels },
    { counted: file.counted, channels: file.channels },
  );
  assert.deepEqual(written.channels[0].bins.slice(1, 6), [
    7,
    2 ** 53 - 1,
    2 ** 53,
    '9007199254740993',
    '1152921504606846979',
  ]);
});

for (const state of ['running', 'finalising', 'complete'] as const) {
  test(`parts that are gone are a fault only while the job runs: ${state}`, async () => {
    const merged = [{ name: '', counted: 0n, bins: new BigUint64Array(256) }];
    const job = { jobId: 'job', spec, state } as JobRecord;
    const ledger = { mergedSoFar: () => merged, getJob: async () => job };
    const cells = { sum: () => Promise.reject(new Error('The log is gone')) };
    const asked = mergedSoFar(job, { cell: '0,0' }, ledger, cells);
    if (state === 'running') await assert.rejects(asked, { message: 'The log is gone' });
    else assert.equal(await asked, undefined);
  });
}
