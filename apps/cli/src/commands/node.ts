import type { GpuChoice } from '@halogrid/gpu-node/gpus';
import { createLog, shutdownSignal } from '@halogrid/service';
import { type Command, Option } from 'commander';
import { pinChosenGpus } from '../cluster/pin-chosen-gpus.ts';
import { type DeviceChoice, deviceChoices, gpuChoice, logLevels, oneOf } from '../options/option-values.ts';

interface NodeCommandOptions {
  coordinator: string;
  name?: string;
  device: DeviceChoice;
  gpu?: GpuChoice;
  pinnedGpu?: string;
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
    .option('--coordinator <host:port,…>', 'the coordinator; several are tried in turn', '127.0.0.1:7070')
    .option('--name <name>', "for people (default: the machine's name and four digits)")
    .option('--device <kind>', deviceChoices.join(', '), oneOf('--device', deviceChoices), 'auto')
    .option('--gpu <n>', "the NVIDIA GPU of that index; 'all': a process on each, kept running", gpuChoice)
    // A node that was started by another for one GPU.
    .addOption(new Option('--pinned-gpu <address>').hideHelp())
    .option(
      '--http <host:port>',
      'address of /metrics, /healthz and /readyz (default: 127.0.0.1:9465, or any free port); of several GPUs the next ports',
    )
    .option('--insecure-network', 'allow --http beyond this machine, though nothing is encrypted')
    .option('--log-level <level>', logLevels.join(', '), oneOf('--log-level', logLevels), 'info')
    .action(async ({ logLevel, gpu: choice, ...options }: NodeCommandOptions) => {
      const { createNodeConfig, startNode } = await import('@halogrid/gpu-node');
      let config = createNodeConfig(options);
      const signal = shutdownSignal();
      if (choice !== undefined) {
        const pins = await pinChosenGpus(choice, options.device);
        const [first] = pins;
        if (!first || pins.length > 1 || first.prefix.length > 0) {
          const { runGpuNodes } = await import('../cluster/run-gpu-nodes.ts');
          process.exitCode = await runGpuNodes(pins, process.argv.slice(2), options, signal);
          return;
        }
        config = createNodeConfig({ ...options, pinnedGpu: first.gpu.busId });
      }
      const exit = await startNode(config, createLog('node', logLevel), signal, ({ httpPort, device, gpu }) => {
        console.log(JSON.stringify({ http: httpPort, device, gpu }));
      });
      process.exitCode = exit.code;
    });
}
