import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

test('what a terapixel costs follows from the measured rates', () => {
  const measured = read('../docs/benchmarks.md').replaceAll(',', '');
  const rows = [...read('../docs/deploy.md').matchAll(/^\| (.+) \| ([\d,]+) \| ([\d,]+) \| (0\.\d{3}) \|$/gm)];
  assert.ok(rows.length >= 9);
  for (const [, what, rate, seconds, cost] of rows) {
    const framesASecond = Number(rate!.replace(',', ''));
    assert.match(measured, new RegExp(`\\b${framesASecond}\\b`), what);
    const exact = 1e12 / (1920 * 1080) / framesASecond;
    assert.equal(Number(seconds!.replace(',', '')), Math.round(exact), what);
    const price = Number(/at (\d\.\d\d) an hour$/.exec(what!)?.[1] ?? 3);
    assert.equal(cost, ((exact * price) / 3600).toFixed(3), what);
  }
});
