import { collectDefaultMetrics, Gauge, Histogram, type HistogramConfiguration, Registry } from 'prom-client';
import { reportEventLoopLag, withoutEventLoopLag } from './event-loop-lag.ts';
import { softwareVersion } from './version.ts';

export { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/**
 * Buckets of the time that work takes, in seconds: a stage of a small frame takes milliseconds, and a device may take
 * half an hour for a batch before it counts as lost. They are coarser where people see no difference, because each
 * bucket is one more series per label.
 */
export const workBuckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800];

/**
 * Buckets of the time that work waits, in seconds: from idle nodes to a queue of a day, finest at minutes and hours,
 * where people plan by them.
 */
export const waitBuckets = [
  ...[0.01, 0.1, 1, 3, 10, 30, 60, 120, 300, 600, 1200, 1800],
  ...[3600, 5400, 7200, 10_800, 14_400, 21_600, 43_200, 86_400],
];

/**
 * A histogram whose buckets keep an exemplar: the `exemplarLabels` of the last observation. It is registered
 * afterwards, because prom-client refuses to make one for a registry in plain text. In plain text its buckets have no
 * exemplars.
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
 * A registry with the metrics that every process reports: build, event loop, memory and CPU. If the environment has
 * HALOGRID_CLUSTER, every series has its value as the label `cluster`, for a Prometheus that does not set this label
 * itself.
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
