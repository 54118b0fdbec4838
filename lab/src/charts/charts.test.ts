import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { linearScale, log2Scale, log10Scale, shortNumber } from './axis-scale.ts';
import { heatMapSvg } from './heat-map.ts';
import { lineChartSvg } from './line-chart.ts';

const positive = fc.array(fc.double({ min: 1e-6, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 20 });

test('every value lies on its axis, and every axis has round ticks from end to end', () => {
  fc.assert(
    fc.property(positive, (values) => {
      for (const { place, ticks } of [linearScale(values, 6), log10Scale(values)]) {
        for (const value of values) assert.ok(place(value) >= -1e-9 && place(value) <= 1 + 1e-9);
        assert.ok(ticks.length >= 2 && ticks.length <= 20, String(ticks));
        assert.ok(Math.abs(place(ticks[0]!)) < 1e-9 && Math.abs(place(ticks.at(-1)!) - 1) < 1e-9);
        for (const tick of ticks) assert.match(tick.toExponential(), /^(0|[1-9](\.\d)?)e/);
      }
    }),
  );
});

test('axes of a few values', () => {
  assert.deepEqual(linearScale([3, 11.5], 6).ticks, [0, 2, 4, 6, 8, 10, 12]);
  assert.deepEqual(linearScale([0.3], 6).ticks, [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3]);
  assert.deepEqual(log10Scale([3, 450]).ticks, [2, 5, 10, 20, 50, 100, 200, 500]);
  assert.deepEqual(log10Scale([7]).ticks, [7, 10]);
  const sides = log2Scale([512, 1024, 1024, 3840, 4096]);
  assert.deepEqual(sides.ticks, [512, 1024, 4096]);
  assert.equal(sides.place(1024), 1 / 3);
  assert.equal(log2Scale([64]).place(64), 0.5);
});

test('numbers are short', () => {
  assert.deepEqual([0, 0.0123456, 12.345, 1234.5, 2e7, 3e-6].map(shortNumber), [
    '0',
    '0.0123',
    '12.3',
    '1235',
    '2e7',
    '3e-6',
  ]);
});

test('a line chart has its lines, their dots, and what they are called', () => {
  const svg = lineChartSvg({
    title: 'A < B',
    subtitle: 'device',
    xTitle: 'x',
    yTitle: 'y',
    yScale: 'linear',
    lines: [
      { name: 'first & only', group: 0, dash: 0, points: [1, 2, 4].map((x) => ({ x, y: x })) },
      { name: 'dashed', group: 0, dash: 1, points: [{ x: 4, y: 2 }] },
    ],
  });
  assert.match(svg, /<title>A &lt; B<\/title>/);
  assert.match(svg, /first &amp; only<\/text>/);
  assert.match(svg, /d="M0 240L350 160L700 0"/);
  assert.equal(svg.match(/<circle/g)?.length, 4);
  assert.match(svg, /stroke-dasharray="6 4"/);
});

test('levels cross the plot and are named in the legend, where they cover nothing', () => {
  const svg = lineChartSvg({
    title: '',
    subtitle: '',
    xTitle: '',
    yTitle: '',
    yScale: 'linear',
    lines: [{ name: 'a', group: 0, dash: 0, points: [{ x: 1, y: 4 }] }],
    levels: [
      { name: 'theirs', y: 1 },
      { name: 'others', y: 2 },
    ],
  });
  assert.equal(svg.match(/<line class="level" stroke-dasharray="[^"]+" x2="700" y1="(240|160)"/g)?.length, 2);
  const legend = [...svg.matchAll(/<text x="36" y="4">([^<]+)</g)].map(([, name]) => name);
  assert.deepEqual(legend, ['a', 'theirs: 1', 'others: 2']);
});

test('categories lie side by side in the order that is given', () => {
  const points = [
    { x: '32x8', y: 1 },
    { x: '8x8', y: 2 },
  ];
  const svg = lineChartSvg({
    title: '',
    subtitle: '',
    xTitle: '',
    yTitle: '',
    yScale: 'log10',
    categories: ['8x8', '32x8'],
    lines: [{ name: 'a', group: 0, dash: 0, points }],
  });
  assert.match(svg, /d="M525 320L175 0"/);
});

test('a heat map has a field for every value, and a dash without one', () => {
  const svg = heatMapSvg({
    title: 'heat',
    subtitle: '',
    xTitle: 'x',
    columns: ['1', '2'],
    rows: ['a', 'b'],
    values: [
      [1, 10],
      [100, undefined],
    ],
  });
  const colours = [...svg.matchAll(/fill="(rgb[^"]+)"/g)].map(([, colour]) => colour);
  assert.deepEqual(colours, ['rgb(49 46 129)', 'rgb(16 145 140)', 'rgb(250 220 60)']);
  assert.match(svg, />-<\/text>/);
});
