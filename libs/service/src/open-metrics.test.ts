import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Counter, Gauge, Registry } from 'prom-client';
import { histogramOfExemplars } from './metrics.ts';
import { openMetrics } from './open-metrics.ts';

test('metrics are written as OpenMetrics 1.0, which names counter families without _total and ends with EOF', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_700_000_000_250 });
  const registry = new Registry();
  registry.setDefaultLabels({ cluster: 'lab' });
  const registers = [registry];
  new Counter({ name: 'done_total', help: 'Done.\nAll of it.', registers }).inc(3);
  new Gauge({ name: 'most', help: 'The "most".', labelNames: ['of'], registers }).set({ of: 'a "b" \\ c' }, Infinity);
  const seconds = histogramOfExemplars(registry, { name: 'took_seconds', help: 'Took.', buckets: [1, 2] });
  seconds.observe({ value: 1.5, exemplarLabels: { trace_id: 'aa' } });
  seconds.observe({ value: 0.5 });
  const text = await openMetrics(registry);
  const expected = String.raw`# HELP done Done.\nAll of it.
# TYPE done counter
done_total{cluster="lab"} 3
# HELP most The "most".
# TYPE most gauge
most{of="a \"b\" \\ c",cluster="lab"} +Inf
# HELP took_seconds Took.
# TYPE took_seconds histogram
took_seconds_bucket{le="1",cluster="lab"} 1
took_seconds_bucket{le="2",cluster="lab"} 2 # {trace_id="aa"} 1.5 1700000000.25
took_seconds_bucket{le="+Inf",cluster="lab"} 2
took_seconds_sum{cluster="lab"} 2
took_seconds_count{cluster="lab"} 2
# EOF
`;
  assert.equal(text, expected);
  // The plain format stays as it is.
  assert.match(await registry.metrics(), /^done_total\{cluster="lab"\} 3$/m);
});
