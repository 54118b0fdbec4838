import { describeLack } from '@halogrid/console/sentences.js';
import type { NodeStatus } from '@halogrid/proto';
import { table } from '@halogrid/service/text-table';
import { describePixels } from '../progress/quantities.ts';

/** What a person reads of the attached nodes: a line each, and below what some of them cannot do. */
export function describeNodes(nodes: readonly NodeStatus[]): string {
  if (nodes.length === 0) return "No nodes; 'halogrid node' starts one.\n";
  const rows = nodes.map((node) => [
    node.name,
    node.device?.kind ?? '',
    node.device?.name ?? '',
    node.device?.gpu?.uuid || (node.device?.gpu?.pciBusId ?? ''),
    stateOf(node),
    String(node.leases),
    String(node.shardsDone),
    describePixels(node.pixelsDone),
    node.softwareVersion,
  ]);
  const lines = nodes.flatMap(({ name, lacks }) => lacks.map((lack) => `${name} ${describeLack(lack)}\n`));
  const head = ['NODE', 'KIND', 'DEVICE', 'GPU', 'STATE', 'LEASES', 'SHARDS', 'PIXELS', 'VERSION'];
  return table([head, ...rows]) + lines.join('');
}

function stateOf({ draining, setAsideUntilMs }: NodeStatus): string {
  if (draining) return 'draining';
  return setAsideUntilMs > 0 ? `set aside until ${new Date(setAsideUntilMs).toISOString()}` : 'ready';
}
