import { describeLacks } from '@halogrid/console/words/sentences.js';
import type { NodeStatus } from '@halogrid/proto';
import { table } from '@halogrid/service/text-table';
import type { Command } from 'commander';
import { addCoordinatorOption, type CoordinatorOption, withCoordinator } from '../options/coordinator-option.ts';
import { describePixels, describeSeconds } from '../progress/quantities.ts';

export function addNodesCommand(program: Command): void {
  const command = program.command('nodes').description('Lists the nodes that are attached to a coordinator.');
  addCoordinatorOption(command)
    .option('--json', 'print JSON')
    .action(async (options: CoordinatorOption & { json?: boolean }) => {
      const nodes = await withCoordinator(options, (client) => client.nodes());
      process.stdout.write(
        options.json
          ? `${JSON.stringify(nodes, null, 2)}\n`
          : describeNodes(nodes, process.stdout.isTTY ? Date.now() : undefined),
      );
    });
}

/**
 * The table of attached nodes for people, with what some of them cannot do below it. On a terminal, times are relative
 * to `nowMs`.
 */
export function describeNodes(nodes: readonly NodeStatus[], nowMs?: number): string {
  if (nodes.length === 0) return "No nodes; 'halogrid node' starts one.\n";
  const rows = nodes.map((node) => [
    node.name,
    node.device?.kind ?? '',
    node.device?.name ?? '',
    node.device?.gpu?.uuid || (node.device?.gpu?.pciBusId ?? ''),
    stateOf(node, nowMs),
    String(node.leases),
    String(node.shardsDone),
    describePixels(node.pixelsDone),
    node.softwareVersion,
  ]);
  const lines = nodes.flatMap(({ name, lacks }) => describeLacks(lacks).map((lack) => `${name} ${lack}\n`));
  const head = ['NODE', 'KIND', 'DEVICE', 'GPU', 'STATE', 'LEASES', 'SHARDS', 'PIXELS', 'VERSION'];
  return table([head, ...rows]) + lines.join('');
}

function stateOf({ draining, setAsideUntilMs }: NodeStatus, nowMs: number | undefined): string {
  if (draining) return 'draining';
  if (setAsideUntilMs === 0) return 'ready';
  if (nowMs === undefined) return `set aside until ${new Date(setAsideUntilMs).toISOString()}`;
  return `set aside for ${describeSeconds(Math.max(1, Math.ceil((setAsideUntilMs - nowMs) / 1000)))}`;
}
