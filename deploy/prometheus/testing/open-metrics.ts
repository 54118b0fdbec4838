import type { Target } from './made-up-cluster.ts';

interface Value {
  value: number;
  labels: Record<string, string | number>;
  metricName?: string;
}

/**
 * The samples of a scrape of the target: its metrics with the labels of the target, and `up`, as lines without line
 * feeds.
 */
export async function scrape(target: Target, cluster: string, seconds: number): Promise<string[]> {
  const { job, instance, isUp, registry, hasOurs } = target;
  const identity = { cluster, job, instance };
  const lines = [sample('up', identity, isUp ? 1 : 0, seconds)];
  if (!isUp) return lines;
  for (const metric of await registry.getMetricsAsJSON()) {
    if (!hasOurs && metric.name.startsWith('halogrid_')) continue;
    for (const { value, labels, metricName = metric.name } of metric.values as Value[]) {
      lines.push(sample(metricName, { ...identity, ...labels }, value, seconds));
    }
  }
  return lines;
}

function sample(name: string, labels: Record<string, string | number>, value: number, seconds: number): string {
  const list = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
  return `${name}{${list.join(',')}} ${value} ${seconds}`;
}
