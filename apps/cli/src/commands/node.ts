import { createLog, shutdownSignal } from '@halogrid/service';
import type { Command } from 'commander';
import { type DeviceChoice, deviceChoices, logLevels, oneOf } from '../options/option-values.ts';

interface NodeCommandOptions {
  coordinator: string;
  name?: string;
  device: DeviceChoice;
  http?: string;
  insecureNetwork?: boolean;
  logLevel: string;
}

export function addNodeCommand(program: Command): void {
  program
    .command('node')
    .summary('run a node of a cluster')
    .description(
      'Opens a device and computes what the coordinator leases, until SIGTERM or Ctrl-C; it dials for as long as it ' +
        'takes. Once it serves, its port is the first line of stdout, as JSON; its log goes to stderr.',
    )
    .option('--coordinator <host:port,…>', 'the coordinator; of several, the one that leads', '127.0.0.1:7070')
    .option('--name <name>', "for people (default: the machine's name and four digits)")
    .option('--device <kind>', deviceChoices.join(', '), oneOf('--device', deviceChoices), 'auto')
    .option(
      '--http <host:port>',
      'address of /metrics, /healthz and /readyz (default: 127.0.0.1:9465, or any free port)',
    )
    .option('--insecure-network', 'allow --http beyond this machine, though nothing is encrypted')
    .option('--log-level <level>', logLevels.join(', '), oneOf('--log-level', logLevels), 'info')
    .action(async ({ logLevel, ...options }: NodeCommandOptions) => {
      const { createNodeConfig, startNode } = await import('@halogrid/gpu-node');
      const config = createNodeConfig(options);
      const signal = shutdownSignal();
      const exit = await startNode(config, createLog('node', logLevel), signal, ({ httpPort, device }) => {
        console.log(JSON.stringify({ http: httpPort, device }));
      });
      process.exitCode = exit.code;
    });
}
