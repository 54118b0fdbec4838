import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { temporaryFile } from '@halogrid/sources/testing-files';
import sharp from 'sharp';
import { openImage } from '../open-image.ts';
import { fixtureBytes } from '../testing/images.ts';

// Milliseconds: one file, and one page.

test('the manual names the decoders of AVIF that are installed: others may give other colours', () => {
  const manual = readFileSync(new URL('../../../../docs/inputs.md', import.meta.url), 'utf8');
  const { heif, aom } = sharp.versions as Record<string, string>;
  // Another version is another results version: compare pixels of a 4:2:0 file before and after, then name it.
  assert.ok(manual.includes(`libheif ${heif} and libaom ${aom}`), `docs/inputs.md names libheif ${heif} and ${aom}`);
});

test('a GIF of a few bytes cannot claim a canvas of gigabytes', async (t) => {
  const bytes = fixtureBytes('image.gif');
  bytes.writeUInt32LE(0xffffffff, 6);
  const message = /^65535x65535 is 4294836225 pixels, more than the \d+ that are decoded whole; /;
  await assert.rejects(openImage(await temporaryFile(t, 'a.gif', bytes)), { stage: 'decode', message });
});
