import type { NodeStatus } from '@halogrid/proto';
import type { Command } from 'commander';
import { addCoordinatorOption, type CoordinatorOption, withCoordinator } from '../options/coordinator-option.ts';
import { describePixels } from '../progress/quantities.ts';
import { table } from '../summary/table.ts';

export function addNodesCommand(program: Command): void {
  const command = program
    .command('nodes')
    .summary('list attached nodes')
    .description('Lists the nodes that are attached to a coordinator.');
  addCoordinatorOption(command)
    .option('--json', 'as JSON')
    .action(async (options: CoordinatorOption & { json?: boolean }) => {
      const nodes = await withCoordinator(options, (client) => client.nodes());
      process.stdout.write(options.json ? `${JSON.stringify(nodes, null, 2)}\n` : nodeTable(nodes));
    });
}

function nodeTable(nodes: readonly NodeStatus[]): string {
  if (nodes.length === 0) return "No nodes; 'halogrid node' starts one.\n";
  const rows = nodes.map((node) => [
    node.name,
    node.device?.kind ?? '',
    node.device?.name ?? '',
    node.device?.gpu?.uuid || (node.device?.gpu?.pciBusId ?? ''),
    node.draining ? 'draining' : 'ready',
    String(node.leases),
    String(node.shardsDone),
    describePixels(node.pixelsDone),
    node.softwareVersion,
  ]);
  return table([['NODE', 'KIND', 'DEVICE', 'GPU', 'STATE', 'LEASES', 'SHARDS', 'PIXELS', 'VERSION'], ...rows]);
}
