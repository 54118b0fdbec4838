import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseBusId, parseInformation } from './nvidia-gpu.ts';

const h200 = `Model: \t\t NVIDIA H200
IRQ:   \t\t 402
GPU UUID: \t GPU-5ba2c9f1-0c39-7e4d-91b7-2f64e0a8d3c5
Video BIOS: \t 96.00.be.00.08
Bus Type: \t PCIe
DMA Size: \t 52 bits
DMA Mask: \t 0xfffffffffffff
Bus Location: \t 0000:0f:00.0
Device Minor: \t 3
GPU Firmware: \t 580.159.04
GPU Excluded:\t No
`;

test('the information of a card names its address, UUID, model and device file', () => {
  assert.deepEqual(parseInformation(h200), {
    busId: '0000:0f:00.0',
    uuid: 'GPU-5ba2c9f1-0c39-7e4d-91b7-2f64e0a8d3c5',
    model: 'NVIDIA H200',
    minor: 3,
  });
});

test('a card that nobody has opened yet has no UUID', () => {
  const text = h200.replace(/GPU-.*/, 'GPU-????????-????-????-????-????????????');
  assert.deepEqual(parseInformation(text)?.uuid, undefined);
  assert.equal(parseInformation(text)?.minor, 3);
});

for (const missing of ['Device Minor', 'Bus Location']) {
  test(`without ${missing} a card cannot be told from others`, () => {
    assert.equal(parseInformation(h200.replace(new RegExp(`^${missing}.*\n`, 'm'), '')), undefined);
  });
}

test('all spellings of a PCI address become the same', () => {
  const table: [string, string | undefined][] = [
    ['00000000:0F:00.0', '0000:0f:00.0'],
    ['0000:0f:00.0', '0000:0f:00.0'],
    ['0001:C1:00.0', '0001:c1:00.0'],
    ['00000001:C1:00.0', '0001:c1:00.0'],
    ['0f:00.0', undefined],
    ['0000:0f:00.9', undefined],
    ['', undefined],
  ];
  for (const [text, expected] of table) assert.equal(parseBusId(text), expected, text);
});
