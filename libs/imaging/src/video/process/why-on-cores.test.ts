import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SegmentRequest } from './segment-request.ts';
import { type HardwareCandidate, whyOnCores } from './why-on-cores.ts';

/** What an H200 says of H.264. */
const caps = {
  isSupported: true,
  engines: 7,
  minWidth: 48,
  minHeight: 16,
  maxWidth: 4096,
  maxHeight: 4096,
  maxBlocks: 65_536,
};
const video: HardwareCandidate = {
  width: 1920,
  height: 1080,
  pixels: 'yuv420p',
  hasNewSets: false,
  first: { isClean: true },
};
/** A packet as a lease states it: it never tells whether it is clean. */
const start = {
  packet: 50,
  pts: 50,
  dts: 50,
  position: 9,
  size: 9,
  isKey: true,
  isClean: false,
  isHidden: false,
};
const request = { start, strictFrom: 50, wanted: [{ packet: 50 }, { packet: 51 }] };

test('a segment that begins with a clean key frame is for hardware, whatever the lease knows of it', () => {
  assert.equal(whyOnCores(caps, video, request), undefined);
  assert.equal(whyOnCores(caps, { ...video, pixels: 'yuvj420p' }, request), undefined);
});

for (const [what, change, asked, why] of [
  ['more bits', { pixels: 'yuv420p10le' }, {}, /for yuv420p, and this is yuv420p10le/],
  ['a small frame', { width: 46 }, {}, /46 x 1080/],
  ['a wide frame', { width: 4098 }, {}, /4098 x 1080/],
  ['other parameter sets', { hasNewSets: true }, {}, /parameter sets/],
  ['a key frame that is not clean', { first: { isClean: false } }, {}, /stand alone/],
  ['colours', {}, { channels: 'rgb' }, /colours/],
  ['a group before that is needed', {}, { strictFrom: 60 }, /stand alone/],
  ['packets without times', {}, { wanted: [{ packet: 50, order: 0 }] }, /no times/],
] satisfies [string, Partial<HardwareCandidate>, Partial<SegmentRequest>, RegExp][]) {
  test(`cores decode ${what}`, () => {
    assert.match(whyOnCores(caps, { ...video, ...change }, { ...request, ...asked }) ?? '', why);
  });
}
