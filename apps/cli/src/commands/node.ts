import type { GpuChoice } from '@halogrid/gpu-node/gpus';
import { endOnUncaught, shutdownSignal } from '@halogrid/service';
import { createLog, type LogFormat, logFormats } from '@halogrid/service/log';
import { type Command, Option } from 'commander';
import { waitForAddress } from '../client/wait-for-coordinator.ts';
import {
  addClientSecurityOptions,
  type ClientSecurityOption,
  type CoordinatorFileOption,
  coordinatorFileOption,
} from '../options/coordinator-option.ts';
import { gpuChoice, pinChosenGpus } from '../options/gpu-option.ts';
import {
  collect,
  type DecodeChoice,
  type DeviceChoice,
  decodeChoices,
  deviceChoices,
  duration,
  logLevels,
  momentToCome,
  parseWord,
  seconds,
  size,
  wholeNumber,
} from '../options/option-values.ts';
import { exitCodes } from '../process/exit-code.ts';
import { toldByParent, wordOfParent } from '../process/parent.ts';

interface NodeCommandOptions extends ClientSecurityOption, CoordinatorFileOption {
  coordinator: string;
  name?: string;
  device: DeviceChoice;
  decode: DecodeChoice;
  deviceTimeout?: number;
  decoderTimeout?: number;
  credit?: number;
  drainTimeout?: number;
  idleExit?: number;
  until?: number;
  gpu?: GpuChoice;
  pinnedGpu?: string;
  http?: string;
  insecureNetwork?: boolean;
  tokens?: string;
  ownToken?: boolean;
  storage: string;
  dataRoot?: string[];
  allowHost?: string[];
  logLevel: string;
  logFormat: LogFormat;
}

export function addNodeCommand(program: Command): void {
  const command = program
    .command('node')
    .description(
      'Opens a device and computes the shards that the coordinator leases to it, until SIGTERM or Ctrl-C. It retries until a ' +
        'coordinator answers. When ready, it prints its port as one line of JSON; its log goes to stderr. Exits with 75 if it was ' +
        'stopped while it had work, or by --until: start it again.',
    )
    .option(
      '--coordinator <host:port,…>',
      'the coordinator; with several, the node works for every one that leads jobs',
      '127.0.0.1:7070',
    )
    .addOption(coordinatorFileOption())
    .option('--name <name>', "the name that people see (default: the machine's name and four digits)")
    .option('--device <kind>', deviceChoices.join(', '), parseWord('--device', deviceChoices), 'auto')
    .option(
      '--decode <where>',
      'where to decode JPEGs: gpu, cpu, or auto for the faster of both; results are the same',
      parseWord('--decode', decodeChoices),
      'auto',
    )
    .option(
      '--device-timeout <ms>',
      'reopen a device that has not answered for this long (default: 120000 for a GPU, 1800000 for others)',
      wholeNumber('--device-timeout', 1000, 86_400_000),
    )
    .option(
      '--decoder-timeout <ms>',
      'end a video decoder that has not answered for this long (default: 60000)',
      wholeNumber('--decoder-timeout', 1000, 86_400_000),
    )
    .option(
      '--credit <size>',
      'hold at most this much of decoded pixels, such as 512M or 2G (default: by the device, at most a quarter of the memory)',
      size('--credit'),
    )
    .option(
      '--drain-timeout <seconds>',
      'after SIGTERM, compute for at most this long, then hand back the rest: 25, 25s or 10m (default: 8)',
      seconds('--drain-timeout'),
    )
    .option(
      '--idle-exit <duration>',
      'end after this long without work (default: wait for work)',
      duration('--idle-exit'),
    )
    .option(
      '--until <time>',
      'end in order before this time: 2026-01-31T08:00Z, @SECONDS since 1970, or a duration such as 90m',
      momentToCome('--until'),
    )
    .option(
      '--gpu <which>',
      'NVIDIA GPUs, with a process on each that is restarted if it dies: an index, a UUID, all, or auto: those that ' +
        'CUDA_VISIBLE_DEVICES, SLURM_STEP_GPUS, SLURM_JOB_GPUS or NVIDIA_VISIBLE_DEVICES assigns (default: auto)',
      gpuChoice,
    )
    // For a node that `node --gpu` starts for one GPU.
    .addOption(new Option('--pinned-gpu <address>').hideHelp())
    // For a node of `run`.
    .addOption(new Option('--own-token').hideHelp().conflicts('tokens'))
    .option(
      '--http <host:port>',
      'address of /metrics, /healthz and /readyz (default: 127.0.0.1:9465, or any free port); several GPUs use the next ports',
    )
    .option(
      '--storage <kind>',
      'shared: the node sees the same files as the coordinator; remote: the coordinator sends them over HTTP',
      'shared',
    )
    .option('--data-root <dir>', 'allow sources and outputs only in this folder; repeat it for more', collect)
    .option('--allow-host <host,…>', 'allow http(s) sources only from these hosts: NAME, *.NAME or *', collect)
    .option('--tokens <file>', 'who may read /metrics, as for the coordinator')
    .option('--insecure-network', 'allow --http beyond this machine without TLS or a token')
    .option('--log-level <level>', logLevels.join(', '), parseWord('--log-level', logLevels), 'info')
    .option(
      '--log-format <format>',
      'json for programs, text for people',
      parseWord('--log-format', logFormats),
      'json',
    );
  addClientSecurityOptions(command).action(async ({ logLevel, gpu: choice, ...options }: NodeCommandOptions) => {
    const { createNodeConfig, startNode } = await import('@halogrid/gpu-node');
    const settings = {
      ...options,
      coordinator: options.coordinator === toldByParent ? await wordOfParent() : options.coordinator,
      deviceTimeoutMs: options.deviceTimeout,
      decoderTimeoutMs: options.decoderTimeout,
      creditBytes: options.credit,
      drainTimeoutMs: options.drainTimeout,
      idleExitMs: options.idleExit,
      untilMs: options.until,
      security: options,
      data: options,
    };
    // Before the wait for a file, so that a mistake is told at once.
    let config = createNodeConfig(settings);
    const log = createLog('node', logLevel, { format: options.logFormat });
    endOnUncaught(log);
    const signal = shutdownSignal();
    if (options.coordinatorFile !== undefined) {
      const note = (sentence: string) => log.info(sentence);
      const address = await waitForAddress({ file: options.coordinatorFile, note, signal });
      if (address === undefined) return;
      settings.coordinator = address;
      config = createNodeConfig(settings);
    }
    // The command that started this node has chosen its GPU.
    const isChosen = options.ownToken || options.pinnedGpu !== undefined;
    const pins = isChosen ? undefined : await pinChosenGpus(choice, options.device);
    if (pins?.length === 0) {
      log.info('The environment gives this process no GPU');
      config = createNodeConfig({ ...settings, device: 'cpu' });
    } else if (pins) {
      const [first] = pins;
      if (!first || pins.length > 1 || first.prefix.length > 0) {
        const { runGpuNodes } = await import('../cluster/gpu-nodes.ts');
        process.exitCode = await runGpuNodes(pins, process.argv.slice(2), options, signal);
        return;
      }
      config = createNodeConfig({ ...settings, pinnedGpu: first.gpu.busId });
    }
    const exit = await startNode(config, log, signal, ({ httpPort, device, gpu }) => {
      console.log(JSON.stringify({ http: httpPort, device, gpu }));
    });
    process.exitCode = exit.hasWorkLeft ? exitCodes.requeue : exit.code;
  });
}
