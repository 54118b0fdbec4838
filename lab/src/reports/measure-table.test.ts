import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomImage } from '../images/image-cache.ts';
import { measureTable } from './measure-table.ts';
import { probeKey, type ReportTable, type TimedWork } from './report.ts';

const lbp = [{ kernel: 'lbp', parameters: {} }];
const probe = (timer: TimedWork['timer'], side: number, more?: Partial<TimedWork>): TimedWork => ({
  timer,
  operations: lbp,
  output: 'map',
  size: { width: side, height: side },
  ...more,
});

function tableOf(probes: TimedWork[]): ReportTable {
  const rows = probes.map((one) => ({ labels: {}, times: { time: one } }));
  return { name: 'a', title: '', rows, derived: [], charts: [] };
}

async function measure(
  probes: TimedWork[],
  { method = { repetitions: 3, images: 2 }, samples = new Map<string, number[]>(), cellMs = 60_000 } = {},
) {
  const notes: string[] = [];
  const read: number[] = [];
  await measureTable(tableOf(probes), samples, {
    bench: {
      device: 'software',
      async image(size, index) {
        read.push(index);
        return randomImage(size, index);
      },
    },
    method,
    cellMs,
    note: (line) => notes.push(line),
  });
  return { samples, notes, read };
}

test('every probe has its samples of each image, and equal probes are one', async () => {
  const probes = [probe('cpu', 33), probe('cpu', 33), probe('twin', 33), probe('threads', 20)];
  const { samples, notes, read } = await measure(probes);
  assert.deepEqual(notes, []);
  assert.equal(samples.size, 3);
  for (const one of probes) assert.equal(samples.get(probeKey(one))?.length, 6);
  assert.deepEqual(read.sort(), [1, 1, 1, 2, 2, 2]);
});

test('kernels run over all images in turns, in as many samples as there are repetitions', async () => {
  const one = probe('kernel', 20);
  const { samples, read } = await measure([one], { method: { repetitions: 4, images: 3 } });
  assert.equal(samples.get(probeKey(one))?.length, 4);
  assert.deepEqual(read.sort(), [1, 2, 3]);
});

test('a probe of another table is not measured again', async () => {
  const { samples } = await measure([probe('cpu', 33)]);
  const { read } = await measure([probe('cpu', 33)], { samples });
  assert.deepEqual(read, []);
  assert.equal(samples.get(probeKey(probe('cpu', 33)))?.length, 6);
});

test('a probe that would take too long is noted and left out', async () => {
  const slow = probe('twin', 4096, { operations: [{ kernel: 'conv', parameters: { kernel: 'box-31' } }] });
  const { samples, notes } = await measure([slow, probe('cpu', 40)], { cellMs: 5_000 });
  assert.deepEqual([...samples.keys()], [probeKey(probe('cpu', 40))]);
  assert.match(
    notes.join(),
    /^conv box-31 of 4096x4096 \(twin\) would take about [\d.]+(e\+\d)? s a sample: left out$/,
  );
});

test('a probe that cannot be measured is noted, and the others are measured', async () => {
  const broken = probe('cpu', 20, {
    operations: [{ kernel: 'lbp', parameters: { labels: 'var' } }],
    output: 'both',
  });
  const { samples, notes } = await measure([broken, probe('cpu', 20)], { method: { repetitions: 1, images: 1 } });
  assert.deepEqual([...samples.keys()], [probeKey(probe('cpu', 20))]);
  assert.match(notes.join(), /^lbp .* of 20x20 \(cpu\) cannot be measured: .* has no histogram$/);
});
