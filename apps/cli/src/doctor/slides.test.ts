import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeSlides, probeSlides } from './slides.ts';

test('OpenSlide says its version, or how it is installed', async () => {
  const found = describeSlides(await probeSlides());
  assert.match(
    found,
    /^(work: OpenSlide \d+\.\d+\.\d+, \S+openslide\S+$|no: OpenSlide is not installed; 'apt install )/,
  );
});
