import type { Dashboard, Panel, Query } from './dashboard.ts';

const onNode = 'instance=~"$node"';

/** The cluster on one page: what it achieves, what waits, where the time goes, and how its processes feel. */
export const halogridDashboard: Dashboard = {
  uid: 'halogrid',
  title: 'halogrid',
  description: 'Throughput, queue, latency by stage, nodes and devices of a halogrid cluster.',
  variables: [{ name: 'node', label: 'Node', query: 'label_values(halogrid_node_attached, instance)' }],
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
  const stat = (title: string, unit: Panel['unit'], expr: string, description: string): Panel => ({
    kind: 'stat',
    title,
    description,
    unit,
    width: 4,
    queries: [{ expr, legend: title }],
  });
  return [
    stat(
      'Pixels',
      'si: px/s',
      `sum(${rate('halogrid_input_pixels_total')})`,
      'Source pixels committed to results, in every job.',
    ),
    stat(
      'Frames',
      'si: frames/s',
      `sum(${rate('halogrid_input_frames_total')})`,
      'Whole sources committed to results, in every job.',
    ),
    stat('Shards waiting', 'short', 'sum(halogrid_shards{state="queued"})', 'Shards that no node holds yet.'),
    stat('Nodes attached', 'short', 'sum(halogrid_nodes{state="attached"})', 'Nodes that take work.'),
    stat(
      'Quarantined share',
      'percentunit',
      'job:halogrid_quarantined:ratio_rate15m',
      'Share of the inputs of the last 15 minutes that could not be processed.',
    ),
    stat(
      'Since last result',
      's',
      'time() - max(halogrid_last_result_timestamp_seconds)',
      'Time since a shard was committed. Long while shards wait: see the runbook of HalogridQueueStalled.',
    ),
  ];
}

function throughput(): Panel[] {
  return [
    panel('Pixels by kernel', 'si: px/s', 'Committed source pixels of the cluster.', [
      { expr: `sum by (kernel) (${rate('halogrid_input_pixels_total')})`, legend: '{{kernel}}' },
    ]),
    panel('Pixels by node', 'si: px/s', 'Pixels each node computed, repeated attempts included.', [
      { expr: `sum by (instance) (${rate('halogrid_node_pixels_total', onNode)})`, legend: '{{instance}}' },
    ]),
    panel('Input read', 'Bps', 'Encoded bytes each node read from sources.', [
      { expr: `sum by (instance) (${rate('halogrid_node_input_bytes_total', onNode)})`, legend: '{{instance}}' },
    ]),
    panel('Frames by kernel', 'si: frames/s', 'Committed sources of the cluster.', [
      { expr: `sum by (kernel) (${rate('halogrid_input_frames_total')})`, legend: '{{kernel}}' },
    ]),
    panel('Frames by node', 'si: frames/s', 'Whole frames each node computed, repeated attempts included.', [
      { expr: `sum by (instance) (${rate('halogrid_node_frames_total', onNode)})`, legend: '{{instance}}' },
    ]),
    panel('Input committed', 'Bps', 'Encoded bytes behind the committed results.', [
      { expr: `sum(${rate('halogrid_input_bytes_total')})`, legend: 'cluster' },
    ]),
  ];
}

function queue(): Panel[] {
  return [
    panel('Shards', 'short', 'Shards of unfinished jobs by state.', [
      { expr: 'sum by (state) (halogrid_shards)', legend: '{{state}}' },
    ]),
    panel('Jobs', 'short', 'Jobs by state.', [{ expr: 'sum by (state) (halogrid_jobs)', legend: '{{state}}' }]),
    panel('Shards finished', 'cps', 'Leases that ended, by what became of them.', [
      { expr: `sum by (outcome) (${rate('halogrid_shards_finished_total')})`, legend: '{{outcome}}' },
    ]),
    panel('Attempts', 'cps', 'Leases given, by why: a first try, or the reason of a repeated one.', [
      { expr: `sum by (reason) (${rate('halogrid_shard_attempts_total')})`, legend: '{{reason}}' },
    ]),
    panel('Leases expired', 'cps', 'Leases that ended without an answer because their node went away.', [
      { expr: `sum(${rate('halogrid_lease_expirations_total')})`, legend: 'expired' },
    ]),
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
      [{ expr: `sum(${rate('halogrid_shard_attempts_total', 'reason="straggler"')})`, legend: 'copies' }],
    ),
    panel('Nodes set aside', 'cps', 'Times that a node got no shards for a while, because it failed too often.', [
      { expr: `sum(${rate('halogrid_nodes_set_aside_total')})`, legend: 'set aside' },
    ]),
    panel('What nodes lack', 'short', 'Needs of jobs that a node cannot meet: it gets no work that has them.', [
      { expr: 'max by (node) (halogrid_node_lacks)', legend: '{{node}}' },
      { expr: `sum(${rate('halogrid_nodes_lacking_total')})`, legend: 'found out' },
    ]),
    panel('Jobs that no node can go on with', 'short', 'They wait though nodes are attached.', [
      { expr: 'max(halogrid_jobs_blocked)', legend: 'jobs' },
      { expr: `sum(${rate('halogrid_shards_skipped_total')})`, legend: 'tiles of images set aside' },
    ]),
    panel('Checked results', 'cps', 'Shards computed again with the reference, and answers that differed.', [
      { expr: `sum(${rate('halogrid_checked_shards_total')})`, legend: 'checked' },
      { expr: `sum(${rate('halogrid_shard_disputes_total')})`, legend: 'differed' },
    ]),
    panel('Wrong answers by node', 'cps', 'Answers that two others contradicted; after one the node is sent away.', [
      { expr: `sum by (node) (${rate('halogrid_result_mismatches_total')})`, legend: '{{node}}' },
    ]),
  ];
}

function latency(): Panel[] {
  const stages = (quantile: number): Query[] => [
    {
      expr: `histogram_quantile(${quantile}, sum by (stage, le) (${rate('halogrid_stage_duration_seconds_bucket', onNode)}))`,
      legend: '{{stage}}',
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
          expr: `sum by (stage) (${rate('halogrid_stage_seconds_total')}) / on () group_left sum(${rate('halogrid_stage_seconds_total')})`,
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
      [{ expr: 'max by (instance) (halogrid_ledger_behind_seconds)', legend: '{{instance}}' }],
    ),
    panel('Leader', 'short', '1 for the coordinator that leads, 0 for those that stand by.', [
      { expr: 'max by (instance) (halogrid_leader)', legend: '{{instance}}' },
    ]),
    panel('Commit and merge', 's', 'Time to commit an answer and merge its histogram.', [
      ...quantiles('halogrid_merge_duration_seconds'),
    ]),
  ];
}

function nodes(): Panel[] {
  return [
    panel('Nodes', 'short', 'Nodes by state.', [{ expr: 'sum by (state) (halogrid_nodes)', legend: '{{state}}' }]),
    panel(
      'Nodes lost and devices lost',
      'cps',
      'Nodes that fell silent or disconnected, and devices that had to be opened again.',
      [
        { expr: `sum(${rate('halogrid_nodes_lost_total')})`, legend: 'nodes' },
        { expr: `sum(${rate('halogrid_gpu_device_lost_total', onNode)})`, legend: 'devices' },
      ],
    ),
    panel('Attached', 'short', '1 while the node holds its conversation with the coordinator.', [
      { expr: `min by (instance) (halogrid_node_attached{${onNode}})`, legend: '{{instance}}' },
    ]),
    panel(
      'Device busy',
      'percentunit',
      'Share of the time kernels run on the device; on the cpu device summed over its threads.',
      [
        {
          expr: `sum by (instance, device) (${rate('halogrid_gpu_busy_seconds_total', onNode)})`,
          legend: '{{instance}} {{device}}',
        },
      ],
    ),
    panel('Leases held', 'short', 'Shards each node holds.', [
      { expr: `sum by (instance) (halogrid_node_leases{${onNode}})`, legend: '{{instance}}' },
    ]),
    panel(
      'Bytes in flight',
      'bytes',
      'Decoded pixels nodes hold, and the bytes of credit the coordinator has leased out.',
      [
        { expr: `sum by (instance) (halogrid_inflight_bytes{${onNode}})`, legend: '{{instance}}' },
        { expr: 'sum(halogrid_leases_bytes)', legend: 'leased' },
      ],
    ),
    panel('Shards by node', 'cps', 'Shards each node ended, by outcome.', [
      {
        expr: `sum by (instance, outcome) (${rate('halogrid_node_shards_total', onNode)})`,
        legend: '{{instance}} {{outcome}}',
      },
    ]),
  ];
}

function quarantine(): Panel[] {
  return [
    panel('Quarantined', 'cps', 'Inputs given up, by the stage that failed.', [
      { expr: `sum by (stage) (${rate('halogrid_quarantined_total')})`, legend: '{{stage}}' },
    ]),
    panel(
      'Quarantined by node',
      'cps',
      'Inputs each node could not read or decode: one node alone points at its storage.',
      [
        {
          expr: `sum by (instance, stage) (${rate('halogrid_node_quarantined_total', onNode)})`,
          legend: '{{instance}} {{stage}}',
        },
      ],
    ),
  ];
}

function processes(): Panel[] {
  const ours = 'job=~"halogrid-.*"';
  return [
    panel('Resident memory', 'bytes', 'Memory of each process, pixels in flight included.', [
      { expr: `sum by (instance) (process_resident_memory_bytes{${ours}})`, legend: '{{instance}}' },
    ]),
    panel(
      'Event-loop lag',
      's',
      'Lag of the event loop at its 99th percentile since the last scrape: late heartbeats lose nodes.',
      [{ expr: `max by (instance) (nodejs_eventloop_lag_p99_seconds{${ours}})`, legend: '{{instance}}' }],
    ),
    panel('Processor', 'short', 'Cores each process keeps busy.', [
      { expr: `sum by (instance) (${rate('process_cpu_seconds_total', ours)})`, legend: '{{instance}}' },
    ]),
  ];
}

function panel(title: string, unit: Panel['unit'], description: string, queries: Query[]): Panel {
  return { kind: 'timeseries', title, description, unit, width: 8, queries };
}

function rate(counter: string, matchers?: string): string {
  return `rate(${counter}${matchers ? `{${matchers}}` : ''}[$__rate_interval])`;
}

function quantiles(histogram: string): Query[] {
  return [0.5, 0.95, 0.99].map((quantile) => ({
    expr: `histogram_quantile(${quantile}, sum by (le) (${rate(`${histogram}_bucket`)}))`,
    legend: `p${quantile * 100}`,
  }));
}
