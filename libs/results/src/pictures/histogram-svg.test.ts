import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
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

test('if one count flattens the others, the scale is logarithmic, and the title names it', () => {
  const even = BigUint64Array.from({ length: 59 }, (_, i) => BigInt(100 + i));
  const one = even.map((count, i) => (i === 4 ? 100_000n : count));
  const heights = (bins: BigUint64Array): [string, number[]] => {
    const svg = histogramSvg({ title: 'LBP histogram', subtitle: '', channels: [{ name: 'gray', bins }] });
    const bars = [...svg.matchAll(/class="bar" .* height="([\d.]+)"/g)].map(([, height]) => Number(height));
    return [/<title>(.*)<\/title>/.exec(svg)![1]!, bars];
  };
  const [linear, evenBars] = heights(even);
  assert.equal(linear, 'LBP histogram, linear scale');
  assert.ok(Math.abs(evenBars[0]! / evenBars.at(-1)! - 100 / 158) < 0.001);
  const [logarithmic, bars] = heights(one);
  assert.equal(logarithmic, 'LBP histogram, logarithmic scale');
  // The axis begins at half of the least count: from 50 to 100,000, where 158 is at 15 %.
  assert.ok(Math.abs(bars.at(-1)! / bars[4]! - Math.log(158 / 50) / Math.log(100_000 / 50)) < 0.001);
});

test('several channels have a named panel each, and a chart without pixels is drawn too', () => {
  const empty = new BigUint64Array(256);
  const channels = ['0', '45', '90', '135'].map((name) => ({ name, bins: empty }));
  const svg = histogramSvg({ title: 'LDP', subtitle: '', channels });
  assert.deepEqual(
    [...svg.matchAll(/class="channel"[^>]*>([^<]*)</g)].map(([, name]) => name),
    ['Channel 0', 'Channel 45', 'Channel 90', 'Channel 135'],
  );
  assert.doesNotMatch(svg, /NaN|Infinity/);
});

test('above 1024 bins a column holds a run of bins, none is lost, and the file stays small', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 70_000 }), (length) => {
      const many = BigUint64Array.from({ length }, (_, i) => BigInt(i % 5));
      const svg = histogramSvg({ title: '', subtitle: 'LBP', channels: [{ name: 'gray', bins: many }] });
      const held = [...svg.matchAll(/<title>(\d+)(?:–(\d+))?: (\d+) pixels/g)];
      const run = Math.ceil(length / 1024);
      assert.ok(held.length <= 1024 && svg.length < 200_000);
      assert.ok(held.every(([, first, last]) => last === undefined || Number(last) - Number(first) < run));
      const sum = held.reduce((total, [, , , count]) => total + Number(count), 0);
      assert.equal(sum, Number(many.reduce((total, count) => total + count, 0n)));
      assert.equal(/>LBP · (\d+) bins a column</.exec(svg)?.[1], run > 1 ? String(run) : undefined);
      const ticks = [...svg.matchAll(/class="x"[^>]*>(\d+)</g)].map(([, bin]) => Number(bin));
      assert.equal(ticks.at(0), 0);
      assert.equal(ticks.at(-1), length - 1);
      assert.ok(ticks.length <= 18);
    }),
    { numRuns: 60 },
  );
});

test('a description that is wider than the plot goes on in another line, and no word is lost', async () => {
  const subtitle = Array.from({ length: 40 }, (_, i) => `kernel-${i}:a=1,b=2`).join(' > ');
  const svg = histogramSvg({ title: '', subtitle, channels: [{ name: 'gray', bins }] });
  const lines = [...svg.matchAll(/<text x="84" y="(\d+)">([^<]*)</g)];
  assert.equal(lines.map(([, , line]) => line).join(' '), subtitle.replaceAll('>', '&gt;'));
  assert.ok(lines.length > 1 && lines.every(([, , line]) => line!.replaceAll('&gt;', '>').length <= 140));
  const { height } = await sharp(Buffer.from(svg)).metadata();
  assert.equal(height, 448 + (lines.length - 1) * 19);
});

test('bins of values are named by their lower ends', () => {
  const channels = [{ name: 'gray', bins: BigUint64Array.from({ length: 256 }, () => 1n) }];
  const svg = histogramSvg({ title: '', subtitle: '', channels, binning: { first: -128, width: 8 } });
  const names = [...svg.matchAll(/<title>(-?\d+): 1 pixels/g)].map(([, name]) => Number(name));
  assert.deepEqual([names.length, names[0], names[1], names.at(-1)], [256, -1024, -1016, 1016]);
  const ticks = [...svg.matchAll(/class="x"[^>]*>(-?\d+)</g)].map(([, value]) => Number(value));
  assert.deepEqual([ticks[0], ticks[1], ticks.at(-1)], [-1024, -768, 1016]);
  assert.match(svg, />Value, in bins of 8</);
});

test('bars that are too narrow for gaps have none', () => {
  // 1021 columns, 1.003 wide: the results of sobel-x.
  const channels = [{ name: 'gray', bins: BigUint64Array.from({ length: 2041 }, () => 1n) }];
  const svg = histogramSvg({ title: '', subtitle: '', channels });
  const bars = [...svg.matchAll(/class="bar" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"/g)].map(([, x, width]) => [
    +x!,
    +width!,
  ]);
  assert.equal(bars.length, 1021);
  bars.slice(1).forEach(([x], i) => {
    assert.ok(bars[i]![0]! + bars[i]![1]! > x! - 1e-9);
  });
});

test('text from outside cannot leave its element', () => {
  const svg = histogramSvg({ title: '<script>&"', subtitle: '', channels: [{ name: 'gray', bins }] });
  assert.ok(svg.includes('&lt;script&gt;&amp;&quot;'));
  assert.ok(!svg.includes('<script>'));
});
