import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { softwareVersion } from './version.ts';

export { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Buckets of every duration here, in seconds: 1 ms doubling to 32 s. One list, so that panels can add them up. */
export const secondsBuckets = Array.from({ length: 16 }, (_, i) => 0.001 * 2 ** i);

/** A registry with what every process reports: build, event loop, memory and CPU. */
export function createRegistry(app: 'coordinator' | 'node'): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // These three are gauges named like counters, which 'promtool check metrics' rejects.
  for (const name of ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']) {
    registry.removeSingleMetric(name);
  }
  new Gauge({
    name: 'halogrid_build_info',
    help: 'Always 1; the labels say which program this is.',
    labelNames: ['app', 'version'],
    registers: [registry],
  }).set({ app, version: softwareVersion }, 1);
  return registry;
}
