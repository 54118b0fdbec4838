import type { Panel, Query, QueryVariable } from '../dashboard.ts';

export const onNode = 'instance=~"$node"';
/** What Prometheus names processes of ours. */
export const ours = 'job=~"halogrid-.*"';

/** Each of several clusters in one Prometheus has series of its own, so that none hides another. */
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

/** Aggregates what is of the same cluster and has the same of these labels. */
export function each(aggregate: 'sum' | 'max' | 'min', expr: string, ...labels: string[]): string {
  return `${aggregate} by (${['cluster', ...labels].join(', ')}) (${expr})`;
}

/** The quantile where something was observed: of nothing it is not a number, which the comparison leaves out. */
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
