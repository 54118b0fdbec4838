import type { Dashboard, Panel, Query } from './dashboard.ts';

const onNode = 'instance=~"$node"';
/** What Prometheus names processes of ours. */
const ours = 'job=~"halogrid-.*"';

/**
 * A cluster on one page: what it achieves, what waits, where the time goes, and how its processes feel. Of several clusters in one
 * Prometheus each has series of its own, so that none hides another.
 */
export const halogridDashboard: Dashboard = {
  uid: 'halogrid',
  title: 'halogrid',
  description: 'Throughput, queue, latency by stage, nodes and devices of a halogrid cluster.',
  variables: [
    { name: 'cluster', label: 'Cluster', query: 'label_values(halogrid_build_info, cluster)' },
    { name: 'node', label: 'Node', query: `label_values(${series('halogrid_node_attached')}, instance)` },
  ],
  rows: [
    { title: 'Overview', panels: overview() },
    { title: 'Throughput', panels: throughput() },
    { title: 'Queue', panels: queue() },
    { title: 'Scheduling', panels: scheduling() },
    { title: 'Latency', panels: latency() },
    { title: 'Nodes and devices', panels: nodes() },
    { title: 'Inputs that failed', panels: quarantine() },
    { title: 'Processes', panels: processes() },
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
      'Source pixels committed to results, in every job.',
    ),
    stat(
      'Frames',
      'si: frames/s',
      each('sum', rate('halogrid_input_frames_total')),
      'Whole sources committed to results, in every job.',
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
      'Time since a shard was committed. Long while shards wait: see the runbook of HalogridQueueStalled.',
      'none since the start',
    ),
  ];
}

function throughput(): Panel[] {
  return [
    panel('Pixels by kernel', 'si: px/s', 'Committed source pixels of the cluster.', [
      { expr: each('sum', rate('halogrid_input_pixels_total'), 'kernel'), legend: '{{cluster}} {{kernel}}' },
    ]),
    panel('Pixels by node', 'si: px/s', 'Pixels each node computed, repeated attempts included.', [
      { expr: each('sum', rate('halogrid_node_pixels_total', onNode), 'instance'), legend: '{{cluster}} {{instance}}' },
    ]),
    panel('Input read', 'Bps', 'Encoded bytes each node read from sources.', [
      {
        expr: each('sum', rate('halogrid_node_input_bytes_total', onNode), 'instance'),
        legend: '{{cluster}} {{instance}}',
      },
    ]),
    panel('Frames by kernel', 'si: frames/s', 'Committed sources of the cluster.', [
      { expr: each('sum', rate('halogrid_input_frames_total'), 'kernel'), legend: '{{cluster}} {{kernel}}' },
    ]),
    panel('Frames by node', 'si: frames/s', 'Whole frames each node computed, repeated attempts included.', [
      { expr: each('sum', rate('halogrid_node_frames_total', onNode), 'instance'), legend: '{{cluster}} {{instance}}' },
    ]),
    panel('Input committed', 'Bps', 'Encoded bytes behind the committed results.', [
      { expr: each('sum', rate('halogrid_input_bytes_total')), legend: '{{cluster}}' },
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
    panel('Jobs ended', 'short', 'Jobs that ended around each point, by how.', [
      {
        expr: each('sum', `increase(${series('halogrid_jobs_ended_total')}[$__rate_interval])`, 'state'),
        legend: '{{cluster}} {{state}}',
      },
    ]),
    panel('Shards finished', 'cps', 'Leases that ended, by what became of them.', [
      { expr: each('sum', rate('halogrid_shards_finished_total'), 'outcome'), legend: '{{cluster}} {{outcome}}' },
    ]),
    panel('Attempts', 'cps', 'Leases given, by why: a first try, or the reason of a repeated one.', [
      { expr: each('sum', rate('halogrid_shard_attempts_total'), 'reason'), legend: '{{cluster}} {{reason}}' },
    ]),
    panel(
      'Leases expired',
      'cps',
      'Leases that ended without an answer because their node went away and did not bring them back.',
      [{ expr: each('sum', rate('halogrid_lease_expirations_total')), legend: '{{cluster}} expired' }],
    ),
    panel('Wait for a lease', 's', 'Time from queued to leased: long when nodes are the bottleneck.', [
      ...quantiles('halogrid_shard_queue_duration_seconds'),
    ]),
  ];
}

function scheduling(): Panel[] {
  return [
    panel(
      'Copies of stragglers',
      'cps',
      'Shards leased to a second node near the end of a job, because they took too long.',
      [
        {
          expr: each('sum', rate('halogrid_shard_attempts_total', 'reason="straggler"')),
          legend: '{{cluster}} copies',
        },
      ],
    ),
    panel('Nodes set aside', 'cps', 'Times that a node got no shards for a while, because it failed too often.', [
      { expr: each('sum', rate('halogrid_nodes_set_aside_total')), legend: '{{cluster}} set aside' },
    ]),
    panel('What nodes lack', 'short', 'Needs of jobs that a node cannot meet: it gets no work that has them.', [
      { expr: each('max', series('halogrid_node_lacks'), 'node'), legend: '{{cluster}} {{node}}' },
      { expr: each('sum', rate('halogrid_nodes_lacking_total')), legend: '{{cluster}} found out' },
    ]),
    panel('Jobs that no node can go on with', 'short', 'They wait though nodes are attached.', [
      { expr: each('max', series('halogrid_jobs_blocked')), legend: '{{cluster}} jobs' },
      { expr: each('sum', rate('halogrid_shards_skipped_total')), legend: '{{cluster}} tiles of images set aside' },
    ]),
    panel('Checked results', 'cps', 'Shards computed again with the reference, and answers that differed.', [
      { expr: each('sum', rate('halogrid_checked_shards_total')), legend: '{{cluster}} checked' },
      { expr: each('sum', rate('halogrid_shard_disputes_total')), legend: '{{cluster}} differed' },
    ]),
    panel('Wrong answers by node', 'cps', 'Answers that two others contradicted; after one the node is sent away.', [
      { expr: each('sum', rate('halogrid_result_mismatches_total'), 'node'), legend: '{{cluster}} {{node}}' },
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
        'Share of each stage in the seconds nodes spent on shards. Decode above compute: the CPU, not the device, limits.',
      unit: 'percentunit',
      width: 8,
      queries: [
        {
          // Of the clusters chosen together: shares of each would add up to several times 100 %.
          expr: `sum by (stage) (${stageSeconds}) / on () group_left () (sum(${stageSeconds}) > 0)`,
          legend: '{{stage}}',
        },
      ],
    },
    {
      kind: 'heatmap',
      title: 'Shard duration',
      description: 'Shards a second by the time from lease to committed answer.',
      unit: 's',
      width: 8,
      queries: [{ expr: `sum by (le) (${rate('halogrid_shard_duration_seconds_bucket')})`, legend: '{{le}}' }],
    },
    panel('Shard duration, quantiles', 's', 'Time from lease to committed answer.', [
      ...quantiles('halogrid_shard_duration_seconds'),
    ]),
    panel(
      'Ledger behind',
      's',
      'How long the oldest change waits to be written: milliseconds while the ledger can be written.',
      [{ expr: each('max', series('halogrid_ledger_behind_seconds'), 'instance'), legend: '{{cluster}} {{instance}}' }],
    ),
    panel('Leader', 'short', '1 for the coordinator that leads, 0 for those that stand by.', [
      { expr: each('max', series('halogrid_leader'), 'instance'), legend: '{{cluster}} {{instance}}' },
    ]),
    panel('Commit and merge', 's', 'Time to commit an answer and merge its histogram.', [
      ...quantiles('halogrid_merge_duration_seconds'),
    ]),
  ];
}

function nodes(): Panel[] {
  return [
    panel('Nodes', 'short', 'Nodes by state.', [
      { expr: each('max', series('halogrid_nodes'), 'state'), legend: '{{cluster}} {{state}}' },
    ]),
    panel(
      'Nodes lost and devices lost',
      'cps',
      'Nodes that fell silent or disconnected, and devices that had to be opened again.',
      [
        { expr: each('sum', rate('halogrid_nodes_lost_total')), legend: '{{cluster}} nodes' },
        { expr: each('sum', rate('halogrid_gpu_device_lost_total', onNode)), legend: '{{cluster}} devices' },
      ],
    ),
    panel('Attached', 'short', '1 while the node holds its conversation with the coordinator.', [
      { expr: each('min', series('halogrid_node_attached', onNode), 'instance'), legend: '{{cluster}} {{instance}}' },
    ]),
    panel(
      'Device busy',
      'percentunit',
      'Share of the time kernels run and JPEGs are decoded on the device; on the cpu device summed over its threads.',
      [
        {
          expr: each('sum', rate('halogrid_gpu_busy_seconds_total', onNode), 'instance', 'device'),
          legend: '{{cluster}} {{instance}} {{device}}',
        },
      ],
    ),
    panel('JPEGs on the device', 'cps', 'JPEGs that devices decode; doubtful ones are decoded again by cores.', [
      {
        expr: each('sum', rate('halogrid_node_device_jpegs_total', onNode), 'instance', 'outcome'),
        legend: '{{cluster}} {{instance}} {{outcome}}',
      },
    ]),
    panel('Leases held', 'short', 'Shards each node holds.', [
      { expr: each('sum', series('halogrid_node_leases', onNode), 'instance'), legend: '{{cluster}} {{instance}}' },
    ]),
    panel(
      'Bytes in flight',
      'bytes',
      'Decoded pixels nodes hold, and the bytes of credit the coordinator has leased out.',
      [
        {
          expr: each('sum', series('halogrid_inflight_bytes', onNode), 'instance'),
          legend: '{{cluster}} {{instance}}',
        },
        { expr: each('sum', series('halogrid_leases_bytes')), legend: '{{cluster}} leased' },
      ],
    ),
    panel('Shards by node', 'cps', 'Shards each node ended, by outcome.', [
      {
        expr: each('sum', rate('halogrid_node_shards_total', onNode), 'instance', 'outcome'),
        legend: '{{cluster}} {{instance}} {{outcome}}',
      },
    ]),
    panel('Searches', 'cps', 'Searches of indexes, by who looked, and parts that their node did not search.', [
      { expr: each('sum', rate('halogrid_searches_total'), 'by'), legend: '{{cluster}} {{by}}' },
      { expr: each('sum', rate('halogrid_search_parts_failed_total')), legend: '{{cluster}} parts not searched' },
    ]),
    panel('Search duration', 's', 'Time that a search took, without that in which it waited.', [
      ...quantiles('halogrid_search_duration_seconds'),
    ]),
  ];
}

function quarantine(): Panel[] {
  return [
    panel('Quarantined', 'cps', 'Inputs given up, by the stage that failed.', [
      { expr: each('sum', rate('halogrid_quarantined_total'), 'stage'), legend: '{{cluster}} {{stage}}' },
    ]),
    panel(
      'Quarantined by node',
      'cps',
      'Inputs each node could not read or decode: one node alone points at its storage.',
      [
        {
          expr: each('sum', rate('halogrid_node_quarantined_total', onNode), 'instance', 'stage'),
          legend: '{{cluster}} {{instance}} {{stage}}',
        },
      ],
    ),
  ];
}

function processes(): Panel[] {
  return [
    panel('Resident memory', 'bytes', 'Memory of each process, pixels in flight included.', [
      {
        expr: each('sum', series('process_resident_memory_bytes', ours), 'instance'),
        legend: '{{cluster}} {{instance}}',
      },
    ]),
    panel(
      'Event-loop lag',
      's',
      'Lag of the event loop at its 99th percentile since the last scrape: late heartbeats lose nodes.',
      [
        {
          expr: each('max', series('nodejs_eventloop_lag_p99_seconds', ours), 'instance'),
          legend: '{{cluster}} {{instance}}',
        },
      ],
    ),
    panel('Processor', 'short', 'Cores each process keeps busy.', [
      { expr: each('sum', rate('process_cpu_seconds_total', ours), 'instance'), legend: '{{cluster}} {{instance}}' },
    ]),
  ];
}

function panel(title: string, unit: Panel['unit'], description: string, queries: Query[]): Panel {
  return { kind: 'timeseries', title, description, unit, width: 8, queries };
}

/** The series of the clusters that the viewer chose. */
function series(metric: string, matchers?: string): string {
  return `${metric}{${['cluster=~"$cluster"', ...(matchers ? [matchers] : [])].join(', ')}}`;
}

function rate(counter: string, matchers?: string): string {
  return `rate(${series(counter, matchers)}[$__rate_interval])`;
}

/** Aggregates what is of the same cluster and has the same of these labels. */
function each(aggregate: 'sum' | 'max' | 'min', expr: string, ...labels: string[]): string {
  return `${aggregate} by (${['cluster', ...labels].join(', ')}) (${expr})`;
}

/** The quantile where something was observed: of nothing it is not a number, which the comparison leaves out. */
function quantileOf(quantile: number, buckets: string): string {
  return `histogram_quantile(${quantile}, ${buckets}) >= 0`;
}

function quantiles(histogram: string): Query[] {
  return [0.5, 0.95, 0.99].map((quantile) => ({
    expr: quantileOf(quantile, each('sum', rate(`${histogram}_bucket`), 'le')),
    legend: `{{cluster}} p${quantile * 100}`,
  }));
}
