import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { sha256 } from '../../testing/images.ts';
import { type YcbcrTags, ycbcrToRgb } from './ycbcr.ts';

test('YCbCr becomes the RGB that libtiff makes of it, for any weights and ranges', () => {
  const conversions: (YcbcrTags & { sha256: string })[] = JSON.parse(
    readFileSync(new URL('../../../fixtures/ycbcr.json', import.meta.url), 'utf8'),
  );
  assert.ok(conversions.length > 10);
  // As make-tiff-cases.py has it.
  const codes = Array.from({ length: 18 }, (_, i) => 15 * i);
  const grid = codes.flatMap((y) => codes.flatMap((cb) => codes.flatMap((cr) => [y, cb, cr])));
  for (const { sha256: expected, ...tags } of conversions) {
    const pixels = Uint8Array.from(grid);
    ycbcrToRgb(tags)(pixels);
    assert.equal(sha256(pixels), expected, JSON.stringify(tags));
  }
});
