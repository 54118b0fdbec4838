import assert from 'node:assert/strict';
import { test } from 'node:test';
import { specSum, statusSum } from './job-row.ts';
import { type NetJobs, type NetRow, netJobs } from './net-jobs.ts';

const begin = (spec: string, status: string, jobId = 'a') => ({
  kind: 'begin' as const,
  jobId,
  spec,
  status,
  marks: [],
});
const note = (status: string, bytes: number, jobId = 'a') => {
  return { kind: 'note' as const, jobId, status, marks: [{ epoch: 7, bytes }] };
};
const end = (status: string, jobId = 'a') => ({ kind: 'end' as const, jobId, status });
const remove = (jobId = 'a') => ({ kind: 'remove' as const, jobId });

const row = (status: string, marks: string, more: { spec?: string; hasEnded?: true } = {}, jobId = 'a'): NetRow => {
  const { spec, hasEnded = false } = more;
  const its = spec === undefined ? {} : { spec, specSum: specSum(jobId, spec) };
  return { jobId, ...its, status, marks, statusSum: statusSum(jobId, status, marks, hasEnded), hasEnded };
};

const table: [string, Parameters<typeof netJobs>[0], NetJobs][] = [
  ['nothing comes to nothing', [], { removed: [], written: [] }],
  ['the last value counts', [note('x', 1), note('y', 2)], { removed: [], written: [row('y', '[[7,2]]')] }],
  ['what is put and removed is removed', [begin('s', 'x'), remove()], { removed: ['a'], written: [] }],
  [
    'what is removed and put is put',
    [remove(), begin('s', 'x')],
    { removed: [], written: [row('x', '[]', { spec: 's' })] },
  ],
  [
    'what begins and goes on has its specification',
    [begin('s', 'x'), note('y', 3)],
    { removed: [], written: [row('y', '[[7,3]]', { spec: 's' })] },
  ],
  ['what ends has no logs', [note('x', 1), end('y')], { removed: [], written: [row('y', '[]', { hasEnded: true })] }],
  [
    'jobs come in order of id',
    [note('x', 1, 'c'), remove('b'), end('y', 'aa'), remove('a')],
    { removed: ['a', 'b'], written: [row('y', '[]', { hasEnded: true }, 'aa'), row('x', '[[7,1]]', {}, 'c')] },
  ],
];

for (const [name, changes, expected] of table) test(name, () => assert.deepEqual(netJobs(changes), expected));
