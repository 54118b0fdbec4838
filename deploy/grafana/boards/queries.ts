import type { Panel, Query, QueryVariable } from '../dashboard.ts';

export const onNode = 'instance=~"$node"';
/** Matches the Prometheus jobs of halogrid's processes. */
export const ours = 'job=~"halogrid-.*"';

/** If one Prometheus watches several clusters, each has separate series, so that no cluster hides another. */
export const clusterVariable: QueryVariable = {
  name: 'cluster',
  label: 'Cluster',
  query: 'label_values(halogrid_build_info, cluster)',
};

export function panel(title: string, unit: Panel['unit'], description: string, queries: Query[]): Panel {
  return { kind: 'timeseries', title, description, unit, width: 8, queries };
}

/** The series of the clusters that the viewer chose. */
export function series(metric: string, matchers?: string): string {
  return `${metric}{${['cluster=~"$cluster"', ...(matchers ? [matchers] : [])].join(', ')}}`;
}

export function rate(counter: string, matchers?: string): string {
  return `rate(${series(counter, matchers)}[$__rate_interval])`;
}

/** Aggregates series with the same cluster and the same values of `labels`. */
export function each(aggregate: 'sum' | 'max' | 'min', expr: string, ...labels: string[]): string {
  return `${aggregate} by (${['cluster', ...labels].join(', ')}) (${expr})`;
}

/** A quantile. Without observations it would be NaN, which the comparison leaves out. */
export function quantileOf(quantile: number, buckets: string): string {
  return `histogram_quantile(${quantile}, ${buckets}) >= 0`;
}

export function quantiles(histogram: string): Query[] {
  return [0.5, 0.95, 0.99].map((quantile) => ({
    expr: quantileOf(quantile, each('sum', rate(`${histogram}_bucket`), 'le')),
    legend: `{{cluster}} p${quantile * 100}`,
  }));
}

export const nodeVariable: QueryVariable = {
  name: 'node',
  label: 'Node',
  query: `label_values(${series('halogrid_node_attached')}, instance)`,
};
