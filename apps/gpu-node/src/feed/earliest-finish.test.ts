import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DecoderLoad, earliestFinish } from './earliest-finish.ts';

const load = (queued: number, rate?: number): DecoderLoad => ({ queued, rate });

const cases: [string, DecoderLoad, DecoderLoad, 'device' | 'cores'][] = [
  ['both idle: the faster one', load(0, 8), load(0, 1), 'device'],
  ['both idle: the one that is far faster', load(0, 1), load(0, 8), 'cores'],
  ['both idle: cores are left for other work', load(0, 1), load(0, 3), 'device'],
  [
    'a device as fast as cores has two batches before this one: three times as long as cores',
    load(20, 1),
    load(0, 1),
    'device',
  ],
  ['it has three before this one', load(30, 1), load(0, 1), 'cores'],
  ['and cores have one already', load(30, 1), load(10, 1), 'device'],
  ['a device eight times as fast takes three times as long', load(230, 8), load(0, 1), 'device'],
  ['and longer', load(240, 8), load(0, 1), 'cores'],
  ['the rate of the idle device is unknown: it is measured', load(0), load(0, 1), 'device'],
  ['the device is being measured', load(10), load(0, 1), 'cores'],
  ['the rate of the idle cores is unknown: they are measured', load(0, 8), load(0), 'cores'],
  ['cores are being measured', load(0, 8), load(10), 'device'],
  ['no rate is known: cores', load(0), load(0), 'cores'],
];

for (const [name, device, cores, expected] of cases) {
  test(`10 bytes: ${name}`, () => assert.equal(earliestFinish(10, { device, cores }), expected));
}
