import type { Dashboard, Panel } from '../dashboard.ts';
import { clusterVariable, each, nodeVariable, onNode, panel, rate, series } from './queries.ts';

/** The nodes of a cluster and their devices. */
export const nodesBoard: Dashboard = {
  uid: 'halogrid-nodes',
  title: 'halogrid: nodes and GPUs',
  description: 'Nodes of halogrid clusters, their work, and their cards as dcgm-exporter reports them.',
  variables: [clusterVariable, nodeVariable],
  texts: [{ name: 'price', label: 'Price of a GPU hour', value: '2.50' }],
  rows: [
    { title: 'Nodes', panels: [table(), ...nodes()] },
    { title: 'What a gigapixel takes', panels: costs() },
    { title: 'Cards, by dcgm-exporter', panels: cards() },
  ],
};

/** A table with one row per node, which links to the console's page of nodes. */
function table(): Panel {
  const column = (name: string, unit: Panel['unit'], expr: string, warnFrom?: number) => {
    return { name, unit, expr, legend: name, warnFrom };
  };
  return {
    kind: 'table',
    title: 'All nodes',
    description: 'One row per node. Its name links to the page of nodes on the console.',
    unit: 'short',
    width: 24,
    rowLabel: 'instance',
    link: { title: 'Nodes on the console', url: '$console/console/nodes.html' },
    queries: [
      column('Attached', 'short', each('max', series('halogrid_node_attached', onNode), 'instance')),
      column('Shards held', 'short', each('sum', series('halogrid_node_leases', onNode), 'instance')),
      column('Pixels', 'si: px/s', each('sum', rate('halogrid_node_pixels_total', onNode), 'instance')),
      column(
        'Device busy',
        'percentunit',
        each('sum', rate('halogrid_gpu_busy_seconds_total', onNode), 'instance'),
        0.9,
      ),
      column('Device memory', 'bytes', each('sum', series('halogrid_gpu_memory_bytes', onNode), 'instance')),
      column(
        'Failed shards',
        'cps',
        each('sum', rate('halogrid_node_shards_total', `${onNode}, outcome="failed"`), 'instance'),
        0.001,
      ),
    ],
  };
}

function nodes(): Panel[] {
  return [
    panel('Bound by', 'percentunit', 'Share of the time in which the stage was the bottleneck of the node.', [
      {
        expr: each('sum', rate('halogrid_node_binding_seconds_total', onNode), 'instance', 'stage'),
        legend: '{{cluster}} {{instance}} {{stage}}',
      },
    ]),
    panel('Under way', 'percentunit', 'Share of the time in which the stage was under way for at least one shard.', [
      {
        expr: each('sum', rate('halogrid_node_busy_seconds_total', onNode), 'instance', 'stage'),
        legend: '{{cluster}} {{instance}} {{stage}}',
      },
    ]),
    panel('Workers at work', 'short', 'Threads that decode, decoders of videos, and devices.', [
      {
        expr: each('sum', series('halogrid_node_workers_busy', onNode), 'instance', 'stage'),
        legend: '{{cluster}} {{instance}} {{stage}}',
      },
    ]),
    panel('Waiting for a worker', 'short', 'Images, segments and batches that wait; memory: for staging memory.', [
      {
        expr: each('sum', series('halogrid_node_queue', onNode), 'instance', 'stage'),
        legend: '{{cluster}} {{instance}} {{stage}}',
      },
    ]),
    panel('Attached', 'short', '1 while the node holds its conversation with the coordinator.', [
      { expr: each('min', series('halogrid_node_attached', onNode), 'instance'), legend: '{{cluster}} {{instance}}' },
    ]),
    panel(
      'Device busy',
      'percentunit',
      'Share of the time in which kernels run or JPEGs are decoded on the device; for the cpu device summed over its threads.',
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
      'Decoded pixels that nodes hold, and the bytes of credit that the coordinator has leased out.',
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
    panel('Device memory', 'bytes', 'Memory that devices have for batches, in use or kept for the next.', [
      {
        expr: each('sum', series('halogrid_gpu_memory_bytes', onNode), 'instance'),
        legend: '{{cluster}} {{instance}}',
      },
    ]),
  ];
}

/** The cards that nodes have open, one series per card. */
function openCards(): string {
  return series('halogrid_node_info', 'gpu_uuid!=""');
}

/** A metric of dcgm-exporter for these cards: its label UUID is our gpu_uuid. */
function joined(cards: string, metric: string): string {
  return `${cards} * on (gpu_uuid) group_left () max by (gpu_uuid) (label_replace(${metric}, "gpu_uuid", "$1", "UUID", "(.+)"))`;
}

/**
 * Device seconds, energy and money per thousand million merged pixels. Work that is done twice adds cost but no pixels.
 */
function costs(): Panel[] {
  const gigapixels = `(${each('sum', rate('halogrid_input_pixels_total'))} / 10^9 > 0)`;
  // A card counts once, also while an old series of a restarted node still exists.
  const cards = each('max', openCards(), 'gpu_uuid');
  const watts = joined(cards, 'rate(DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION[$__rate_interval])');
  return [
    panel('Device time a gigapixel', 's', 'Time in which devices ran, per gigapixel merged meanwhile.', [
      { expr: `${each('sum', rate('halogrid_gpu_busy_seconds_total'))} / ${gigapixels}`, legend: '{{cluster}}' },
    ]),
    {
      ...panel(
        'Energy a gigapixel',
        'joule',
        'Energy that the cards of nodes consumed, per gigapixel merged meanwhile.',
        [
          // dcgm-exporter counts millijoules.
          { expr: `${each('sum', watts)} / 1000 / ${gigapixels}`, legend: '{{cluster}}' },
        ],
      ),
      needs: 'dcgm',
    },
    {
      ...panel(
        'Cost a gigapixel',
        'short',
        'Hours of the cards of nodes, busy or not, at the price entered above, per gigapixel merged meanwhile.',
        [{ expr: `${each('sum', cards)} * $price / 3600 / ${gigapixels}`, legend: '{{cluster}}' }],
      ),
      needs: 'card',
    },
  ];
}

/** What dcgm-exporter reports about each card, by the node that has it open. */
function cards(): Panel[] {
  const ofCard = (metric: string) => joined(each('max', openCards(), 'instance', 'gpu_uuid'), metric);
  const card = (title: string, unit: Panel['unit'], description: string, expr: string): Panel => ({
    ...panel(title, unit, description, [{ expr, legend: '{{cluster}} {{instance}}' }]),
    needs: 'dcgm',
  });
  return [
    card(
      'Card used',
      'percentunit',
      'As the driver reports it, for all its users.',
      `${ofCard('DCGM_FI_DEV_GPU_UTIL')} / 100`,
    ),
    card('Memory of the card', 'bytes', 'In use by all its users.', `${ofCard('DCGM_FI_DEV_FB_USED')} * 2^20`),
    card('Power', 'watt', 'Power that the card draws.', ofCard('DCGM_FI_DEV_POWER_USAGE')),
  ];
}
