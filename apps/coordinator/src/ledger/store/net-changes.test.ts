import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NetChanges, netChanges } from './net-changes.ts';

const one = Uint8Array.of(1);
const two = Uint8Array.of(2);
const at = (key: number, value: Uint8Array | undefined, jobId = 'a') => ({ jobId, kind: 'plan', key, value });
const place = (key: number, jobId = 'a') => ({ jobId, kind: 'plan', key });

const table: [string, Parameters<typeof netChanges>[0], NetChanges][] = [
  ['nothing comes to nothing', [], { jobs: [], removed: [], put: [] }],
  ['the last value counts', [at(0, one), at(0, two)], { jobs: [], removed: [], put: [at(0, two) as never] }],
  ['what is put and removed is removed', [at(0, one), at(0, undefined)], { jobs: [], removed: [place(0)], put: [] }],
  [
    'what is removed and put is put',
    [at(0, undefined), at(0, one)],
    { jobs: [], removed: [], put: [at(0, one) as never] },
  ],
  ['a job takes what was put before', [at(0, one), { jobId: 'a' }], { jobs: ['a'], removed: [], put: [] }],
  [
    'and not what is put later, or of others',
    [at(0, one, 'b'), at(0, one), { jobId: 'a' }, at(1, two)],
    { jobs: ['a'], removed: [], put: [at(0, one, 'b') as never, at(1, two) as never] },
  ],
];

for (const [name, changes, expected] of table) test(name, () => assert.deepEqual(netChanges(changes), expected));
