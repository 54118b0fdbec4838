import { collectDefaultMetrics, Gauge, Histogram, type HistogramConfiguration, Registry } from 'prom-client';
import { reportEventLoopLag, withoutEventLoopLag } from './event-loop-lag.ts';
import { softwareVersion } from './version.ts';

export { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/**
 * Buckets of the time that work takes, in seconds: a stage of a small frame takes milliseconds, and a device may take
 * half an hour for a batch before it counts as lost. Coarser where a person no longer tells the difference, as each is
 * a series a label.
 */
export const workBuckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800];

/**
 * Buckets of the time that work waits, in seconds: from nodes that are idle to a queue of a day, finest where a person
 * plans by them, at minutes and hours.
 */
export const waitBuckets = [
  ...[0.01, 0.1, 1, 3, 10, 30, 60, 120, 300, 600, 1200, 1800],
  ...[3600, 5400, 7200, 10_800, 14_400, 21_600, 43_200, 86_400],
];

/**
 * A histogram each of whose buckets keeps what was said of the last that was counted in it (`exemplarLabels`). It is
 * registered afterwards: prom-client makes none for a registry that it is to write as plain text, where its buckets are
 * without.
 */
export function histogramOfExemplars(
  registry: Registry,
  configuration: Omit<HistogramConfiguration<string>, 'registers' | 'enableExemplars'>,
): Histogram<string> {
  const histogram = new Histogram({ ...configuration, registers: [], enableExemplars: true });
  registry.registerMetric(histogram);
  return histogram;
}

/**
 * A registry with what every process reports: build, event loop, memory and CPU. With HALOGRID_CLUSTER in the
 * environment every series has that name as its label `cluster`, for where the Prometheus that scrapes it gives its
 * targets none.
 */
export function createRegistry(
  app: 'coordinator' | 'node',
  env: Readonly<Record<string, string | undefined>> = process.env,
): Registry {
  const registry = new Registry();
  const cluster = env.HALOGRID_CLUSTER;
  if (cluster) registry.setDefaultLabels({ cluster });
  collectDefaultMetrics({ register: registry, ...withoutEventLoopLag });
  reportEventLoopLag(registry);
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
