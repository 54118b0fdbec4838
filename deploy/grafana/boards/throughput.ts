import type { Dashboard, Panel, Query } from '../dashboard.ts';
import { clusterVariable, each, nodeVariable, onNode, panel, quantileOf, quantiles, rate } from './queries.ts';

const stages = ['read', 'decode', 'upload', 'compute', 'readback', 'encode'];

/** How fast nodes are, and how long shards take in each stage. */
export const throughputBoard: Dashboard = {
  uid: 'halogrid-throughput',
  title: 'halogrid: throughput and latency',
  description: 'Throughput of each node, and the time of shards by stage.',
  variables: [clusterVariable, nodeVariable],
  rows: [
    { title: 'Throughput of nodes', panels: throughput() },
    { title: 'Where the time goes', panels: latency() },
    { title: 'A stage each', panels: stages.map(stageHeatmap) },
    { title: 'Searches', panels: searches() },
  ],
};

function throughput(): Panel[] {
  return [
    panel('Pixels by node', 'si: px/s', 'Pixels that each node computed, including repeated attempts.', [
      { expr: each('sum', rate('halogrid_node_pixels_total', onNode), 'instance'), legend: '{{cluster}} {{instance}}' },
    ]),
    panel('Frames by node', 'si: frames/s', 'Whole frames that each node computed, including repeated attempts.', [
      { expr: each('sum', rate('halogrid_node_frames_total', onNode), 'instance'), legend: '{{cluster}} {{instance}}' },
    ]),
    panel(
      'Input read',
      'Bps',
      'Encoded bytes that each node read from sources, and how many of them were not in its page cache.',
      [
        {
          expr: each('sum', rate('halogrid_node_input_bytes_total', onNode), 'instance'),
          legend: '{{cluster}} {{instance}}',
        },
        {
          expr: each('sum', rate('halogrid_node_storage_read_bytes_total', onNode), 'instance'),
          legend: '{{cluster}} {{instance}} from storage',
        },
      ],
    ),
    panel('Copied to devices and back', 'Bps', 'Bytes of planes, JPEGs, counts and maps between hosts and devices.', [
      {
        expr: each('sum', rate('halogrid_node_uploaded_bytes_total', onNode), 'instance'),
        legend: '{{cluster}} {{instance}} to',
      },
      {
        expr: each('sum', rate('halogrid_node_read_back_bytes_total', onNode), 'instance'),
        legend: '{{cluster}} {{instance}} back',
      },
    ]),
    panel('Wait for a lease', 's', 'Time from queued to leased. It is long if nodes are the bottleneck.', [
      ...quantiles('halogrid_shard_queue_duration_seconds'),
    ]),
  ];
}

function latency(): Panel[] {
  const stageSeconds = rate('halogrid_stage_seconds_total');
  const stages = (quantile: number): Query[] => [
    {
      expr: quantileOf(quantile, each('sum', rate('halogrid_stage_duration_seconds_bucket', onNode), 'stage', 'le')),
      legend: '{{cluster}} {{stage}}',
    },
  ];
  return [
    panel('Stage, median', 's', 'Half of the shards spend less than this in the stage.', stages(0.5)),
    panel('Stage, 95th percentile', 's', 'One shard in twenty spends more than this in the stage.', stages(0.95)),
    {
      kind: 'stacked',
      title: 'Where the time goes',
      description:
        'Share of each stage in the seconds that nodes spent on shards. If decode is above compute, the CPU is the limit, not the device.',
      unit: 'percentunit',
      width: 8,
      queries: [
        {
          // Shares over all chosen clusters together, because shares of each would add up to several times 100 %.
          expr: `sum by (stage) (${stageSeconds}) / on () group_left () (sum(${stageSeconds}) > 0)`,
          legend: '{{stage}}',
        },
      ],
    },
    {
      kind: 'heatmap',
      title: 'Shard duration',
      description: 'Shards a second, by the time from lease to committed answer.',
      unit: 's',
      width: 8,
      queries: [{ expr: `sum by (le) (${rate('halogrid_shard_duration_seconds_bucket')})`, legend: '{{le}}' }],
    },
    panel('Shard duration, quantiles', 's', 'Time from lease to committed answer.', [
      ...quantiles('halogrid_shard_duration_seconds'),
    ]),
  ];
}

/** A heatmap of shards a second, by the time that they spent in the stage. */
function stageHeatmap(stage: string): Panel {
  const buckets = rate('halogrid_stage_duration_seconds_bucket', `${onNode}, stage="${stage}"`);
  return {
    kind: 'heatmap',
    title: `Time of a shard: ${stage}`,
    description: `Shards a second by the time that they spent in the stage '${stage}'.`,
    unit: 's',
    width: 8,
    queries: [{ expr: `sum by (le) (${buckets})`, legend: '{{le}}' }],
  };
}

function searches(): Panel[] {
  return [
    panel(
      'Searches',
      'cps',
      'Searches of indexes, by the process that searched, and parts that a node failed to search.',
      [
        { expr: each('sum', rate('halogrid_searches_total'), 'by'), legend: '{{cluster}} {{by}}' },
        { expr: each('sum', rate('halogrid_search_parts_failed_total')), legend: '{{cluster}} parts not searched' },
      ],
    ),
    panel('Search duration', 's', 'Time that a search took, without its wait.', [
      ...quantiles('halogrid_search_duration_seconds'),
    ]),
  ];
}
