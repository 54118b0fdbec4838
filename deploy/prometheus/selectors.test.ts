import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metricName, selectors } from './selectors.ts';

test('selectors are the series of an expression, without functions, labels, ranges and operators', () => {
  const cases: [string, string[]][] = [
    ['up', ['up']],
    ['sum by (kernel) (rate(a_total[$__rate_interval]))', ['a_total']],
    ['sum(rate(a_total{x=~"$node"}[5m])) without (x)', ['a_total{x=~"$node"}']],
    ['a / on () group_left sum(b)', ['a', 'b']],
    ['a{x="1"} > 0 and sum(increase(b_total[15m])) == 0 unless c', ['a{x="1"}', 'b_total', 'c']],
    ['histogram_quantile(0.95, sum by (stage, le) (rate(d_seconds_bucket[1m])))', ['d_seconds_bucket']],
    ['time() - max(e_seconds)', ['e_seconds']],
    ['a + a', ['a']],
    ['max_over_time(a[1h] offset 1h) > 0', ['a']],
    ['max by (u) (label_replace(b{x="1"}, "u", "$1", "V", "(.+)"))', ['b{x="1"}']],
    ['a * $price', ['a']],
    ['job:a:ratio_rate15m > 0.05', ['job:a:ratio_rate15m']],
  ];
  for (const [expr, expected] of cases) assert.deepEqual(selectors(expr), expected, expr);
});

test('a selector of a part of a histogram belongs to the histogram', () => {
  assert.equal(metricName('a_seconds_bucket{le="1"}'), 'a_seconds');
  assert.equal(metricName('a_bytes{x="count"}'), 'a_bytes');
  assert.equal(metricName('a_total'), 'a_total');
});
