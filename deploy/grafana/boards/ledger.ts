import type { Dashboard, Panel } from '../dashboard.ts';
import { clusterVariable, each, nodeVariable, onNode, ours, panel, quantiles, rate, series } from './queries.ts';

/** Commits, faults, and the health of processes. */
export const ledgerBoard: Dashboard = {
  uid: 'halogrid-ledger',
  title: 'halogrid: ledger and faults',
  description: 'Leader, ledger, leases, failures and processes of halogrid clusters.',
  variables: [clusterVariable, nodeVariable],
  rows: [
    { title: 'Ledger', panels: ledger() },
    { title: 'Leases', panels: leases() },
    { title: 'Scheduling', panels: scheduling() },
    { title: 'Inputs that failed', panels: quarantine() },
    { title: 'Processes', panels: processes() },
  ],
};

function ledger(): Panel[] {
  return [
    panel('Leader', 'short', '1 for the coordinator that leads, 0 for those that stand by.', [
      { expr: each('max', series('halogrid_leader'), 'instance'), legend: '{{cluster}} {{instance}}' },
    ]),
    panel(
      'Ledger behind',
      's',
      'How long the oldest change waits to be written: milliseconds while the ledger can be written.',
      [{ expr: each('max', series('halogrid_ledger_behind_seconds'), 'instance'), legend: '{{cluster}} {{instance}}' }],
    ),
    panel('Commit and merge', 's', 'Time to commit an answer and merge its histogram.', [
      ...quantiles('halogrid_merge_duration_seconds'),
    ]),
  ];
}

function leases(): Panel[] {
  return [
    panel('Shards finished', 'cps', 'Leases that ended, by outcome.', [
      { expr: each('sum', rate('halogrid_shards_finished_total'), 'outcome'), legend: '{{cluster}} {{outcome}}' },
    ]),
    panel('Attempts', 'cps', 'Leases given, by reason: a first try, or why the shard is repeated.', [
      { expr: each('sum', rate('halogrid_shard_attempts_total'), 'reason'), legend: '{{cluster}} {{reason}}' },
    ]),
    panel(
      'Leases expired',
      'cps',
      'Leases that ended without an answer because their node went away and did not bring them back.',
      [{ expr: each('sum', rate('halogrid_lease_expirations_total')), legend: '{{cluster}} expired' }],
    ),
    panel('Jobs ended', 'short', 'Jobs that ended around each point, by final state.', [
      {
        expr: each('sum', `increase(${series('halogrid_jobs_ended_total')}[$__rate_interval])`, 'state'),
        legend: '{{cluster}} {{state}}',
      },
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
    panel('Nodes set aside', 'cps', 'How often a node got no shards for a while because it failed too often.', [
      { expr: each('sum', rate('halogrid_nodes_set_aside_total')), legend: '{{cluster}} set aside' },
    ]),
    panel('What nodes lack', 'short', 'Needs of jobs that a node cannot meet. It gets no work that has them.', [
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
    panel(
      'Wrong answers by node',
      'cps',
      'Answers that two others contradicted. After one, the node gets no more shards.',
      [{ expr: each('sum', rate('halogrid_result_mismatches_total'), 'node'), legend: '{{cluster}} {{node}}' }],
    ),
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
      'Inputs that each node could not read or decode. If it is only one node, suspect its storage.',
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
    panel('Resident memory', 'bytes', 'Memory of each process, including pixels in flight.', [
      {
        expr: each('sum', series('process_resident_memory_bytes', ours), 'instance'),
        legend: '{{cluster}} {{instance}}',
      },
    ]),
    panel(
      'Event-loop lag',
      's',
      'The 99th percentile of the lag of the event loop since the last scrape. Nodes whose heartbeats are late are lost.',
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
