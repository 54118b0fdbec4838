import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCards, parseProcesses, type SmiReading } from './nvidia-smi.ts';
import { type Placement, provePlacement } from './prove-placement.ts';

const uuids = ['GPU-5ba2c9f1-0c39-7e4d-91b7-2f64e0a8d3c5', 'GPU-e1f0a7d2-6b83-4c15-a90e-77d4b2c6f318'];
// The driver's minor numbers need not follow the addresses.
const gpus = [
  { busId: '0000:0f:00.0', uuid: uuids[0], model: 'NVIDIA H200', minor: 1 },
  { busId: '0000:2d:00.0', uuid: uuids[1], model: 'NVIDIA H200', minor: 0 },
];
const right: Placement[] = [
  { busId: '0000:0f:00.0', pid: 101, heldMinors: [1] },
  { busId: '0000:2d:00.0', pid: 102, heldMinors: [0] },
];

const smi: SmiReading = {
  gpus: parseCards(`00000000:0F:00.0, ${uuids[0]}, 1093\n00000000:2D:00.0, ${uuids[1]}, 611\n`),
  processes: parseProcesses(`101, ${uuids[0]}, 1084\n4711, ${uuids[1]}, 80\n`),
};

test('the output of nvidia-smi is parsed, and lines that are not rows are skipped', () => {
  assert.deepEqual(smi.gpus[0], { busId: '0000:0f:00.0', uuid: uuids[0], usedMiB: 1093 });
  assert.deepEqual(smi.processes[1], { pid: 4711, uuid: uuids[1], usedMiB: 80 });
  assert.deepEqual(parseCards('Failed to initialize NVML: Driver/library version mismatch\n'), []);
  assert.deepEqual(parseCards(`00000000:0F:00.0, ${uuids[0]}, [N/A]\n`)[0]?.usedMiB, undefined);
  assert.deepEqual(parseProcesses('No running processes found\n'), []);
  assert.deepEqual(parseProcesses(`101, ${uuids[0]}, [Insufficient Permissions]`)[0], {
    pid: 101,
    uuid: uuids[0],
    usedMiB: undefined,
  });
});

test('processes that each hold their own card alone are proven, with the memory in use', () => {
  assert.deepEqual(provePlacement(right, gpus, smi), {
    kind: 'proven',
    evidence: [
      `Process 101 is on ${uuids[0]} (0000:0f:00.0): it alone holds /dev/nvidia1 of these processes, 1093 MiB in use, 1084 MiB of it by this process`,
      `Process 102 is on ${uuids[1]} (0000:2d:00.0): it alone holds /dev/nvidia0 of these processes, 611 MiB in use`,
    ],
  });
});

test('nvidia-smi is not needed', () => {
  const verdict = provePlacement(right, gpus, undefined);
  assert.equal(verdict.kind, 'proven');
});

const smiSays = (cards: string, processes = ''): SmiReading => ({
  gpus: parseCards(cards),
  processes: parseProcesses(processes),
});
const [first, second] = right as [Placement, Placement];
const refuted: [string, Placement[], SmiReading | undefined, RegExp][] = [
  [
    'a process on the other card',
    [first, { ...second, heldMinors: [1] }],
    smi,
    /^Process 102 was meant for GPU-e1.* alone but holds \/dev\/nvidia1 open$/,
  ],
  [
    'a process that opened both',
    [{ ...first, heldMinors: [0, 1] }, second],
    smi,
    /^Process 101 .* alone but holds \/dev\/nvidia0, \/dev\/nvidia1 open$/,
  ],
  ['a process that holds none', [{ ...first, heldMinors: [] }], smi, /^Process 101 holds no device file of a GPU open/],
  [
    'two processes meant for one card',
    [first, { ...first, pid: 103 }],
    smi,
    /^Processes 101 and 103 are on one GPU, GPU-5b/,
  ],
  ['a card that is gone', [{ ...first, busId: '0000:99:00.0' }], smi, /0000:99:00\.0, which the driver does not list$/],
  [
    'a card without memory in use',
    [first],
    smiSays(`00000000:0F:00.0, ${uuids[0]}, 0`),
    /says that none of its memory is in use$/,
  ],
  ['another UUID in nvidia-smi', [first], smiSays(`00000000:0F:00.0, ${uuids[1]}, 9`), /and nvidia-smi GPU-e1/],
  [
    'a process that nvidia-smi lists elsewhere',
    [first],
    smiSays('', `101, ${uuids[1]}, 500`),
    /but nvidia-smi lists it on GPU-e1/,
  ],
];

for (const [name, placements, reading, sentence] of refuted) {
  test(`${name} is refuted`, () => {
    const verdict = provePlacement(placements, gpus, reading);
    assert.equal(verdict.kind, 'refuted');
    assert.match(verdict.kind === 'refuted' ? verdict.reason : '', sentence);
  });
}

test('two addresses with one UUID are one card', () => {
  const twice = [gpus[0]!, { ...gpus[1]!, uuid: uuids[0] }];
  const verdict = provePlacement(right, twice, undefined);
  assert.match(verdict.kind === 'refuted' ? verdict.reason : '', /^Processes 101 and 102 are on one GPU/);
});
