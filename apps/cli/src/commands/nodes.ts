import type { Command } from 'commander';
import { addCoordinatorOption, type CoordinatorOption, withCoordinator } from '../options/coordinator-option.ts';
import { describeNodes } from '../summary/describe-nodes.ts';

export function addNodesCommand(program: Command): void {
  const command = program
    .command('nodes')
    .summary('list attached nodes')
    .description('Lists the nodes that are attached to a coordinator.');
  addCoordinatorOption(command)
    .option('--json', 'as JSON')
    .action(async (options: CoordinatorOption & { json?: boolean }) => {
      const nodes = await withCoordinator(options, (client) => client.nodes());
      process.stdout.write(options.json ? `${JSON.stringify(nodes, null, 2)}\n` : describeNodes(nodes));
    });
}
