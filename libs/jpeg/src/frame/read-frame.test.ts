import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { writeJpeg } from '../testing/write-jpeg.ts';
import { lumaBlocks } from './jpeg-frame.ts';
import { readJpegFrame } from './read-frame.ts';

const fixture = (name: string): Buffer => readFileSync(new URL(`../../../imaging/fixtures/${name}`, import.meta.url));
const [dqt, sof, dht, sos] = [0xdb, 0xc0, 0xc4, 0xda];
const find = (jpeg: Buffer, marker: number): number => jpeg.indexOf(Buffer.from([0xff, marker]));

/** The fixture with changed bytes, at these offsets from a marker. */
function changed(name: string, marker: number, changes: Record<number, number>): Buffer {
  const jpeg = Buffer.from(fixture(name));
  for (const [offset, value] of Object.entries(changes)) jpeg[find(jpeg, marker) + Number(offset)] = value;
  return jpeg;
}

/** The fixture with `bytes` inserted in front of a marker. */
function withBytes(name: string, marker: number, bytes: readonly number[]): Buffer {
  const jpeg = fixture(name);
  const at = find(jpeg, marker);
  return Buffer.concat([jpeg.subarray(0, at), Buffer.from(bytes), jpeg.subarray(at)]);
}

const huge = { 5: 0xff, 6: 0xdc, 7: 0xff, 8: 0xdc };

test('a header becomes a frame', () => {
  for (const [name, lumaAcross, lumaDown, mcuBlocks, blocks] of [
    ['420.jpg', 2, 2, 6, 7 * 4 * 6],
    ['422.jpg', 2, 1, 4, 7 * 8 * 4],
    ['440.jpg', 1, 2, 4, 13 * 4 * 4],
    ['444.jpg', 1, 1, 3, 13 * 8 * 3],
    ['gray.jpg', 1, 1, 1, 13 * 8],
  ] as const) {
    const jpeg = fixture(name);
    const frame = readJpegFrame(jpeg);
    assert.ok(typeof frame !== 'string', name);
    const { width, height, restartBlocks, dataStart } = frame;
    assert.deepEqual({ width, height, restartBlocks }, { width: 97, height: 61, restartBlocks: 0 }, name);
    assert.deepEqual(
      [frame.lumaAcross, frame.lumaDown, frame.mcuBlocks, frame.blocks],
      [lumaAcross, lumaDown, mcuBlocks, blocks],
    );
    assert.equal(lumaBlocks(frame), (blocks / mcuBlocks) * lumaAcross * lumaDown);
    assert.equal(dataStart, find(jpeg, sos) + 2 + jpeg.readUInt16BE(find(jpeg, sos) + 2));
    assert.equal(frame.dcTables.length, mcuBlocks);
  }
});

test('fill bytes, comments and other metadata in the header are skipped', () => {
  for (const bytes of [
    [0xff, 0xff, 0xff],
    [0xff, 0xfe, 0, 4, 65, 66],
    [0xff, 0xe5, 0, 2],
  ]) {
    assert.equal(typeof readJpegFrame(withBytes('420.jpg', dqt, bytes)), 'object', bytes.join());
  }
});

const refusals: [string, Buffer, RegExp][] = [
  ['nothing', Buffer.alloc(0), /start of an image/],
  ['another format', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), /start of an image/],
  ['progressive', fixture('progressive.jpg'), /marker c2/],
  ['arithmetic', fixture('arithmetic.jpg'), /marker c9/],
  ['lossless', changed('420.jpg', sof, { 1: 0xc3 }), /marker c3/],
  ['four components', fixture('cmyk.jpg'), /neither gray nor YCbCr/],
  ['no components', changed('420.jpg', sof, { 9: 0 }), /neither gray nor YCbCr/],
  ['RGB by names or Adobe', fixture('rgb.jpg'), /RGB/],
  ['twelve bits', changed('420.jpg', sof, { 4: 12 }), /8 bits/],
  ['height in a DNL', changed('420.jpg', sof, { 5: 0, 6: 0 }), /no size/],
  ['65,500 x 65,500 of two kilobytes', changed('420.jpg', sof, huge), /less data than its size needs/],
  ['more than 65,500', changed('420.jpg', sof, { ...huge, 8: 0xdd }), /sides longer/],
  ['sampling of 0', changed('420.jpg', sof, { 11: 0x02 }), /sampling factor/],
  ['sampling of 5', changed('420.jpg', sof, { 11: 0x51 }), /sampling factor/],
  ['luma below chroma', changed('420.jpg', sof, { 11: 0x11, 14: 0x22 }), /full resolution/],
  ['18 blocks an MCU', changed('444.jpg', sof, { 11: 0x44 }), /more blocks/],
  ['a table that is not there', changed('420.jpg', sof, { 12: 3 }), /quantisation table is missing/],
  ['a Huffman table that is not there', changed('420.jpg', sos, { 6: 0x22 }), /Huffman table is missing/],
  ['two frames', withBytes('420.jpg', sos, [...fixture('420.jpg').subarray(...frameRange())]), /two frames/],
  ['a scan of one component', changed('420.jpg', sos, { 4: 1 }), /several scans/],
  ['a scan of some coefficients', changed('420.jpg', sos, { 12: 5 }), /some coefficients/],
  ['components in another order', changed('420.jpg', sos, { 5: 2, 7: 1 }), /another order/],
  ['a code that is all ones', changed('420.jpg', dht, { 5: 2 }), /cannot be|cut off/],
  ['a DC of more than 15 bits', changed('420.jpg', dht, { 21: 16 }), /DC difference/],
  ['dirt between segments', withBytes('420.jpg', dqt, [1, 2, 3]), /no marker/],
  ['JFIF version 2', changed('420.jpg', 0xe0, { 9: 2 }), /JFIF/],
];

function frameRange(): [number, number] {
  const at = find(fixture('420.jpg'), sof);
  return [at, at + 2 + fixture('420.jpg').readUInt16BE(at + 2)];
}

for (const [name, jpeg, reason] of refusals) {
  test(`for cores: ${name}`, () => {
    const found = readJpegFrame(jpeg);
    assert.ok(typeof found === 'string', 'it is not refused');
    assert.match(found, reason);
  });
}

test('a header that is cut off anywhere is left to cores', () => {
  const jpeg = fixture('420.jpg');
  const data = find(jpeg, sos);
  for (let length = 0; length < data + 14; length++)
    assert.equal(typeof readJpegFrame(jpeg.subarray(0, length)), 'string');
});

test('a single component has MCUs of one block, for all sampling factors', () => {
  const made = {
    width: 30,
    height: 20,
    restartMcus: 0,
    density: 0,
    bits: 1,
    quantiser: 1,
    sharesTables: false,
    seed: 1,
  };
  const frame = readJpegFrame(writeJpeg({ ...made, samplings: [[2, 3]] }));
  assert.ok(typeof frame !== 'string');
  assert.deepEqual([frame.mcuBlocks, frame.mcusAcross, frame.blocks], [1, 4, 12]);
});
