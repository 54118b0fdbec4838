import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/**
 * The longest possible pause in milliseconds between two looks of prom-client's own gauges at the event loop, so that
 * they never look.
 */
const never = 2 ** 31 - 1;

/** Options for prom-client so that its own gauges, which `reportEventLoopLag` replaces, measure nothing. */
export const withoutEventLoopLag = { eventLoopMonitoringPrecision: never };

/**
 * Reports in seconds how late the event loop has run since the last scrape, under prom-client's names. It leaves out
 * the standard deviation, for which Node goes through 40,000 counters: a quarter of the time of a scrape (measured:
 * 0.43 of 1.8 ms).
 */
export function reportEventLoopLag(registry: Registry): void {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const gauges = new Map<string, { help: string; nanoseconds: () => number }>([
    ['min', { help: 'The minimum recorded event loop delay.', nanoseconds: () => delay.min }],
    ['max', { help: 'The maximum recorded event loop delay.', nanoseconds: () => delay.max }],
    ['mean', { help: 'The mean of the recorded event loop delays.', nanoseconds: () => delay.mean }],
  ]);
  for (const percent of [50, 90, 99]) {
    const help = `The ${percent}th percentile of the recorded event loop delays.`;
    gauges.set(`p${percent}`, { help, nanoseconds: () => delay.percentile(percent) });
  }
  for (const name of ['', 'stddev_', ...[...gauges.keys()].map((which) => `${which}_`)]) {
    registry.removeSingleMetric(`nodejs_eventloop_lag_${name}seconds`);
  }
  for (const [which, { help, nanoseconds }] of gauges) {
    new Gauge({
      name: `nodejs_eventloop_lag_${which}_seconds`,
      help,
      registers: [registry],
      collect() {
        this.set(nanoseconds() / 1e9);
        // This gauge is collected last: the next scrape covers the time from here on.
        if (which === 'p99') delay.reset();
      },
    });
  }
}
