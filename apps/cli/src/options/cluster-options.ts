import type { GpuChoice, GpuPin } from '@halogrid/gpu-node/gpus';
import { named, sentence } from '@halogrid/proto/sentence';
import { UsageError } from '@halogrid/service';
import type { Command } from 'commander';
import { gpuChoice, pinChosenGpus } from './gpu-option.ts';
import {
  type DecodeChoice,
  type DeviceChoice,
  decodeChoices,
  deviceChoices,
  duration,
  parseWord,
  wholeNumber,
} from './option-values.ts';
import { addScratchOption, type ScratchOption, setScratch } from './set-scratch.ts';

/** What the options of `addClusterOptions` parse to. */
export interface ClusterChoice extends ScratchOption {
  nodes?: number;
  device?: DeviceChoice;
  decode?: DecodeChoice;
  gpu?: GpuChoice;
  sourceGrace?: number;
  spaceGrace?: number;
}

/** Adds the options for the coordinator and nodes that are started on this machine. */
export function addClusterOptions(command: Command): Command {
  command
    .option('--nodes <n>', 'nodes to start (default: 1)', wholeNumber('--nodes', 1, 64))
    .option(
      '--device <kind>',
      `where kernels run: ${deviceChoices.join(', ')} (default: auto)`,
      parseWord('--device', deviceChoices),
    )
    .option(
      '--decode <where>',
      `where JPEGs are decoded, with the same results: ${decodeChoices.join(', ')} (default: auto)`,
      parseWord('--decode', decodeChoices),
    )
    .option(
      '--gpu <which>',
      'NVIDIA GPUs, with a node on each: an index, a UUID, all, or auto: those that the environment assigns to this ' +
        'process, as for halogrid node (default: auto)',
      gpuChoice,
    );
  return addScratchOption(command)
    .option(
      '--source-grace <duration>',
      'how long to wait for an unavailable host or bucket of sources; 0: do not wait (default: 10m)',
      duration('--source-grace'),
    )
    .option(
      '--space-grace <duration>',
      'how long to wait for room for the results; 0: do not wait (default: no limit)',
      duration('--space-grace'),
    );
}

/** Throws UsageError if options contradict each other. */
export function checkClusterChoice(choice: ClusterChoice & { coordinator?: string; coordinatorFile?: string }): void {
  const { coordinatorFile, gpu, nodes, device, decode, sourceGrace, spaceGrace, scratch } = choice;
  const hasGrace = sourceGrace !== undefined || spaceGrace !== undefined;
  const option = coordinatorFile === undefined ? '--coordinator' : '--coordinator-file';
  const coordinator = coordinatorFile ?? choice.coordinator;
  if (coordinator && (nodes || device || decode || hasGrace || scratch)) {
    throw new UsageError(
      sentence`Expected none of ${named('--nodes')}, ${named('--device')}, ${named('--decode')}, ${named('--source-grace')}, ${named('--space-grace')} and ${named('--scratch')} with ${named(option)}: the cluster has its own`,
      { field: option },
    );
  }
  if (gpu === undefined) return;
  const why = 'each GPU of this machine has one node';
  for (const [other, value] of Object.entries({ '--nodes': nodes, [option]: coordinator })) {
    if (!value) continue;
    throw new UsageError(sentence`Expected ${named(other)} or ${named('--gpu')} but received both: ${why}`, {
      field: '--gpu',
    });
  }
}

/** The coordinator and nodes to start. */
export interface ChosenCluster {
  nodes: number;
  device: DeviceChoice;
  decode?: DecodeChoice;
  gpus?: GpuPin[];
  sourceGraceMs?: number;
  spaceGraceMs?: number;
}

/** Resolves with what the options ask for. Rejects with UsageError if there are no such GPUs. */
export async function chosenCluster(choice: ClusterChoice): Promise<ChosenCluster> {
  const { nodes = 1, device = 'auto', decode, gpu, sourceGrace, spaceGrace, scratch } = choice;
  setScratch(scratch);
  const isOpen = gpu !== undefined || choice.nodes === undefined;
  const pins = isOpen ? await pinChosenGpus(gpu, device) : undefined;
  const gpus = pins?.length ? pins : undefined;
  return {
    nodes: gpus?.length ?? nodes,
    device: gpus ? 'gpu' : pins ? 'cpu' : device,
    decode,
    gpus,
    sourceGraceMs: sourceGrace,
    spaceGraceMs: spaceGrace,
  };
}
