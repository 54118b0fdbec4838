import type { Dashboard, Panel } from '../dashboard.ts';
import { clusterVariable, each, panel, rate, series } from './queries.ts';

/** A cluster on one page: its throughput, its queue, and its bottleneck. */
export const overviewBoard: Dashboard = {
  uid: 'halogrid',
  title: 'halogrid',
  description:
    'Throughput, queue and bottleneck of halogrid clusters; the other boards with the tag halogrid have the rest.',
  variables: [clusterVariable],
  rows: [
    { title: 'Overview', panels: overview() },
    { title: 'Throughput', panels: throughput() },
    { title: 'What binds', panels: binding() },
    { title: 'Queue', panels: queue() },
  ],
};

function overview(): Panel[] {
  const stat = (title: string, unit: Panel['unit'], expr: string, description: string, noValue?: string): Panel => ({
    kind: 'stat',
    title,
    description,
    unit,
    width: 4,
    queries: [{ expr, legend: '{{cluster}}' }],
    ...(noValue && { noValue }),
  });
  return [
    stat(
      'Pixels',
      'si: px/s',
      each('sum', rate('halogrid_input_pixels_total')),
      'Source pixels committed to results, over all jobs.',
    ),
    stat(
      'Frames',
      'si: frames/s',
      each('sum', rate('halogrid_input_frames_total')),
      'Whole sources committed to results, over all jobs.',
    ),
    stat(
      'Shards waiting',
      'short',
      each('sum', series('halogrid_shards', 'state="queued"')),
      'Shards that no node holds yet.',
    ),
    stat('Nodes attached', 'short', each('max', series('halogrid_nodes', 'state="attached"')), 'Nodes that take work.'),
    stat(
      'Quarantined share',
      'percentunit',
      series('cluster:halogrid_quarantined:ratio_rate15m'),
      'Share of the inputs of the last 15 minutes that could not be processed.',
      'no inputs',
    ),
    stat(
      'Since last result',
      's',
      `time() - ${each('max', series('halogrid_last_result_timestamp_seconds'))}`,
      'Time since the last shard was committed. If it is long while shards wait, see the runbook of HalogridQueueStalled.',
      'none since the start',
    ),
  ];
}

function throughput(): Panel[] {
  return [
    panel('Pixels by kernel', 'si: px/s', 'Committed source pixels of the cluster.', [
      { expr: each('sum', rate('halogrid_input_pixels_total'), 'kernel'), legend: '{{cluster}} {{kernel}}' },
    ]),
    panel('Frames by kernel', 'si: frames/s', 'Committed sources of the cluster.', [
      { expr: each('sum', rate('halogrid_input_frames_total'), 'kernel'), legend: '{{cluster}} {{kernel}}' },
    ]),
    panel('Input committed', 'Bps', 'Encoded bytes behind the committed results.', [
      { expr: each('sum', rate('halogrid_input_bytes_total')), legend: '{{cluster}}' },
    ]),
  ];
}

function binding(): Panel[] {
  const seconds = rate('halogrid_node_binding_seconds_total');
  return [
    {
      kind: 'stacked',
      title: 'What binds nodes',
      description:
        'Share of the time in which the stage was the bottleneck; idle: nodes had no shard. The largest limits the cluster.',
      unit: 'percentunit',
      width: 16,
      queries: [
        {
          // Shares over all chosen clusters together, because shares of each would add up to several times 100 %.
          expr: `sum by (stage) (${seconds}) / on () group_left () (sum(${seconds}) > 0)`,
          legend: '{{stage}}',
        },
      ],
    },
    panel('Workers used', 'percentunit', 'Share of decoding threads, video decoders and devices that are at work.', [
      {
        expr: `${each('sum', rate('halogrid_node_worker_seconds_total'), 'stage')} / ${each('sum', series('halogrid_node_workers'), 'stage')}`,
        legend: '{{cluster}} {{stage}}',
      },
    ]),
  ];
}

function queue(): Panel[] {
  return [
    panel('Shards', 'short', 'Shards of unfinished jobs by state.', [
      { expr: each('sum', series('halogrid_shards'), 'state'), legend: '{{cluster}} {{state}}' },
    ]),
    panel('Jobs', 'short', 'Jobs that coordinators lead, by state.', [
      { expr: each('sum', series('halogrid_jobs'), 'state'), legend: '{{cluster}} {{state}}' },
    ]),
    panel('Nodes', 'short', 'Nodes by state.', [
      { expr: each('max', series('halogrid_nodes'), 'state'), legend: '{{cluster}} {{state}}' },
    ]),
  ];
}
