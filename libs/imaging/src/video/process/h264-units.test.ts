import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type H264Picture, pictureOf } from './h264-units.ts';

/** Units behind start codes, and behind their lengths. */
function packetsOf(units: readonly (readonly number[])[]): [packet: Buffer, lengthBytes: number][] {
  const coded = units.map((unit) => Buffer.from([0, 0, 0, 1, ...unit]));
  const counted = units.map((unit) => Buffer.from([0, unit.length, ...unit]));
  return [
    [Buffer.concat(coded), 0],
    [Buffer.concat(counted), 2],
  ];
}

// ITU-T H.264: 7.4.1 the head of a unit, with nal_ref_idc and the type; D.1.8 the recovery point, whose count is ue(v)
// of 9.1.
const delimiter = [9, 0xf0];
const otherMessage = [5, 2, 0xaa, 0xbb];
const table: { name: string; units: number[][]; expected: Omit<H264Picture, 'end'> | undefined }[] = [
  { name: 'IDR', units: [delimiter, [0x65, 0x88]], expected: { isIdr: true, isReference: true, recovery: undefined } },
  { name: 'P', units: [delimiter, [0x41, 0x9a]], expected: { isIdr: false, isReference: true, recovery: undefined } },
  {
    name: 'B that none is decoded from',
    units: [[1, 0x9e]],
    expected: { isIdr: false, isReference: false, recovery: undefined },
  },
  {
    name: 'I of an open group: 1 is the code of 0',
    units: [
      [6, 6, 1, 0b1100_0000, 0x80],
      [0x61, 0x88],
    ],
    expected: { isIdr: false, isReference: true, recovery: 0 },
  },
  {
    name: 'refresh, behind another message: 00000 110010 is the code of 49',
    units: [delimiter, [6, ...otherMessage, 6, 2, 0b0000_0110, 0b0101_0000, 0x80], [0x61, 0x88]],
    expected: { isIdr: false, isReference: true, recovery: 49 },
  },
  { name: 'no picture', units: [delimiter], expected: undefined },
];
for (const { name, units, expected } of table) {
  test(`${name}, behind start codes and lengths`, () => {
    for (const [packet, lengthBytes] of packetsOf(units)) {
      const whole = expected && { ...expected, end: packet.length };
      assert.deepEqual(pictureOf(packet, lengthBytes), whole);
    }
  });
}

test('a packet that is cut off states where its slice would end, and one with a unit of no bytes has no picture', () => {
  assert.equal(pictureOf(Buffer.from([0, 9, 0x65, 0x88]), 2)?.end, 11);
  assert.equal(pictureOf(Buffer.from([0, 0, 0, 2, 0x65, 0x88]), 2), undefined);
});
