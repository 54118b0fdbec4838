import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DecoderLoad, earliestFinish } from './earliest-finish.ts';

const load = (queued: number, rate?: number): DecoderLoad => ({ queued, rate });

const cases: [string, DecoderLoad, DecoderLoad, 'device' | 'cores'][] = [
  ['both idle: who is faster', load(0, 8), load(0, 1), 'device'],
  ['both idle: who is by far faster', load(0, 1), load(0, 8), 'cores'],
  ['both idle: cores are to do other things', load(0, 1), load(0, 3), 'device'],
  [
    'a device as fast as cores has three batches, and a third of the time is as long',
    load(20, 1),
    load(0, 1),
    'device',
  ],
  ['it has four', load(30, 1), load(0, 1), 'cores'],
  ['and cores have one already', load(30, 1), load(10, 1), 'device'],
  ['a device eight times as fast is behind by three times as long', load(230, 8), load(0, 1), 'device'],
  ['and by more', load(240, 8), load(0, 1), 'cores'],
  ['nobody knows the device, which is idle: it is measured', load(0), load(0, 1), 'device'],
  ['it is being measured', load(10), load(0, 1), 'cores'],
  ['nobody knows the cores, which are idle: they are measured', load(0, 8), load(0), 'cores'],
  ['they are being measured', load(0, 8), load(10), 'device'],
  ['nobody knows anything: cores can do it', load(0), load(0), 'cores'],
];

for (const [name, device, cores, expected] of cases) {
  test(`10 bytes: ${name}`, () => assert.equal(earliestFinish(10, { device, cores }), expected));
}
