import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '@halogrid/service';
import type { DeviceKind, NodeDevice } from './device.ts';
import { type DeviceChoice, openDevice } from './open-device.ts';

/** Opens these kinds only. */
function machineWith(...kinds: DeviceKind[]) {
  const open = (kind: DeviceKind) => async () => {
    if (!kinds.includes(kind)) throw new Error(`No ${kind} here`);
    return { info: { kind } } as NodeDevice;
  };
  return { gpu: open('gpu'), software: open('software'), cpu: open('cpu') };
}

const table: [choice: DeviceChoice, there: DeviceKind[], taken: DeviceKind, reason: RegExp][] = [
  ['auto', ['gpu', 'software', 'cpu'], 'gpu', /^There is a GPU/],
  [
    'auto',
    ['software', 'cpu'],
    'cpu',
    /^There is no GPU \(No gpu here\), and the CPU is faster than a software device\.$/,
  ],
  ['gpu', ['gpu', 'cpu'], 'gpu', /was asked for\.$/],
  ['software', ['gpu', 'software', 'cpu'], 'software', /was asked for\.$/],
  ['cpu', ['gpu', 'software', 'cpu'], 'cpu', /was asked for\.$/],
];

for (const [choice, there, taken, expected] of table) {
  test(`'${choice}' takes ${taken} of ${there.join(', ')}`, async () => {
    const { device, reason } = await openDevice(choice, machineWith(...there));
    assert.equal(device.info.kind, taken);
    assert.match(reason, expected);
  });
}

test('asking for a kind that is not there is wrong usage, in one sentence', async () => {
  await assert.rejects(openDevice('gpu', machineWith('cpu')), (error: unknown) => {
    assert.ok(error instanceof UsageError);
    assert.equal(error.message, "The device 'gpu' is not available: No gpu here.");
    return true;
  });
});
