import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { histogramSvg } from './histogram-svg.ts';

const bins = BigUint64Array.from({ length: 256 }, (_, i) => BigInt(i === 7 ? 2 ** 60 : i * 3));

test('the chart is an image that a renderer draws without anything else', async () => {
  const svg = histogramSvg({ title: 'LBP histogram', subtitle: 'of 3 sources', channels: [{ name: 'gray', bins }] });
  const { width, height } = await sharp(Buffer.from(svg)).metadata();
  assert.deepEqual([width, height], [1140, 448]);
  assert.doesNotMatch(svg, /href|url\(|@import/);
});

test('every bin that holds pixels has a bar that tells its exact count, and no other bin has one', () => {
  const svg = histogramSvg({ title: '', subtitle: '', channels: [{ name: 'gray', bins }] });
  const bars = [...svg.matchAll(/<title>(\d+): (\d+) pixels/g)].map(([, bin, count]) => [Number(bin), BigInt(count!)]);
  const expected = Array.from(bins, (count, bin) => [bin, count] as const).filter(([, count]) => count > 0n);
  assert.deepEqual(bars, expected);
});

test('several channels have a named panel each, and a chart without pixels is drawn too', () => {
  const empty = new BigUint64Array(256);
  const channels = ['0', '45', '90', '135'].map((name) => ({ name, bins: empty }));
  const svg = histogramSvg({ title: 'LDP', subtitle: '', channels });
  assert.deepEqual(
    [...svg.matchAll(/class="channel"[^>]*>([^<]*)</g)].map(([, name]) => name),
    ['0', '45', '90', '135'],
  );
  assert.doesNotMatch(svg, /NaN|Infinity/);
});

test('text from outside cannot leave its element', () => {
  const svg = histogramSvg({ title: '<script>&"', subtitle: '', channels: [{ name: 'gray', bins }] });
  assert.ok(svg.includes('&lt;script&gt;&amp;&quot;'));
  assert.ok(!svg.includes('<script>'));
});
