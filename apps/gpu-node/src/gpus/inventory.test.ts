import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gpuMinors, takeInventory } from './inventory.ts';

const gpu = (busId: string, minor: number) => ({ busId, uuid: `GPU-${minor}`, model: 'NVIDIA H200', minor });

test('cards are ordered by PCI address, and cards whose path holds another device file are hidden', () => {
  const [a, b, c, d] = [gpu('0000:0f:00.0', 2), gpu('0000:2d:00.0', 0), gpu('0000:44:00.0', 1), gpu('0001:0f:00.0', 3)];
  const { visible, hidden } = takeInventory([
    { gpu: d, device: { major: 195, minor: 3 }, opens: true },
    { gpu: b, device: { major: 195, minor: 0 }, opens: true },
    { gpu: a, device: { major: 195, minor: 2 }, opens: true },
    // /dev/null is mounted over the card's device file.
    { gpu: c, device: { major: 1, minor: 3 }, opens: true },
  ]);
  assert.deepEqual([visible, hidden], [[a, b, d], [c]]);
  const alone = { visible: [], hidden: [a] };
  assert.deepEqual(takeInventory([{ gpu: a, device: undefined, opens: false }]), alone);
  assert.deepEqual(takeInventory([{ gpu: a, device: { major: 195, minor: 0 }, opens: true }]), alone);
  // A device cgroup refuses it.
  assert.deepEqual(takeInventory([{ gpu: a, device: { major: 195, minor: 2 }, opens: false }]), alone);
});

test('only cards among the open devices count, each once', () => {
  const open = [
    { major: 195, minor: 255 },
    { major: 195, minor: 254 },
    { major: 195, minor: 7 },
    { major: 195, minor: 1 },
    { major: 195, minor: 7 },
    { major: 1, minor: 3 },
    { major: 226, minor: 128 },
  ];
  assert.deepEqual(gpuMinors(open), [1, 7]);
  assert.deepEqual(gpuMinors([]), []);
});
