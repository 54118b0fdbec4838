import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { freemem } from 'node:os';
import { devicePath, type GpuInventory, type NvidiaGpu } from '@halogrid/gpu-node/gpus';
import { resultsVersion, softwareVersion } from '@halogrid/service';
import { table } from '@halogrid/service/text-table';
import { coresHere, memoryHere } from '@halogrid/threads/limits';
import { describeSeconds } from '../progress/quantities.ts';
import { describeSpace, type FolderSpace } from './folder-space.ts';
import { describeJpegs, type JpegFinding } from './jpegs.ts';
import { describePort, type PortFinding } from './ports.ts';
import type { DeviceTrial } from './probe.ts';
import { describeSlides, type SlideFinding } from './slides.ts';
import { describeVideos, type VideoFinding } from './videos.ts';

export interface Findings {
  versions: Record<string, string>;
  machine: Machine;
  /** NVIDIA cards; none without the driver. */
  gpus: GpuInventory;
  /** Tests of devices by the choice that was asked for: gpu, software, cpu, auto. */
  devices: Record<string, DeviceTrial>;
  videos: VideoFinding;
  /** libjpeg-turbo, which reads JPEGs. */
  jpegs: JpegFinding;
  /** OpenSlide, which reads slides of vendors. */
  slides: SlideFinding;
  /** The folders that the program writes to, and their free space. */
  space: FolderSpace[];
  /** The ports that a coordinator and a node listen on. */
  ports: PortFinding[];
  /** Files of settings, and whether they exist. */
  settings: { path: string; isThere: boolean }[];
}

/** The text of `halogrid doctor` for people. */
export function describeFindings({ versions, machine, gpus, devices, ...found }: Findings): string {
  const gigabytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;
  const memory = `${gigabytes(machine.memoryBytes)} of memory, ${gigabytes(machine.freeBytes)} free`;
  const threads =
    machine.poolThreads ?? "4, libuv's default: start halogrid with its launcher, or set UV_THREADPOOL_SIZE";
  return table([
    [
      'versions',
      Object.entries(versions)
        .map((pair) => pair.join(' '))
        .join(', '),
    ],
    ['machine', `${machine.platform}, ${machine.cores} cores, ${memory}`],
    ['threads', `${threads} for reading and decoding`],
    ...gpus.visible.map((gpu, index) => [`GPU ${index}`, describeGpu(gpu)]),
    ...gpus.hidden.map((gpu) => ['GPU', `${describeGpu(gpu)}; this process is not allowed to open it`]),
    ...Object.entries(devices).map(([choice, probe]) => [choice, describeProbe(choice, probe)]),
    ['videos', describeVideos(found.videos)],
    ['JPEGs', describeJpegs(found.jpegs)],
    ['slides', describeSlides(found.slides)],
    ...found.space.map((folder) => ['space', describeSpace(folder)]),
    ...found.ports.map((port) => ['port', describePort(port)]),
    ...found.settings.map(({ path, isThere }) => ['settings', `${path}, ${isThere ? 'read' : 'not there'}`]),
  ]);
}

function describeGpu({ model, uuid, busId, minor }: NvidiaGpu): string {
  return [model, uuid ?? 'its UUID is known once it was opened', busId, devicePath({ minor })].join(', ');
}

function describeProbe(choice: string, probe: DeviceTrial): string {
  if (!probe.works) return `no: ${probe.reason.replace(/^The device '\w+' is not available: /, '')}`;
  const { kind, name, driver } = probe.device;
  if (choice === 'auto') return `takes ${kind}: ${probe.why}`;
  return `works: ${driver ? `${name}, ${driver}` : name}; ready in ${describeSeconds(probe.openSeconds)}, LBP equal to the CPU twin`;
}

interface Machine {
  platform: string;
  cores: number;
  /** Memory that this process may use: that of the machine, or of its container. */
  memoryBytes: number;
  freeBytes: number;
  /** Threads that read and decode, as set for libuv; undefined: its default of 4. */
  poolThreads: number | undefined;
}

export function inspectMachine(): Machine {
  return {
    platform: `${process.platform} ${process.arch}`,
    cores: coresHere(),
    memoryBytes: memoryHere(),
    freeBytes: Math.min(freemem(), process.availableMemory()),
    poolThreads: process.env.UV_THREADPOOL_SIZE ? Number(process.env.UV_THREADPOOL_SIZE) : undefined,
  };
}

/** Packages with compiled code that are not bundled. Their versions explain most differences between two machines. */
const packages = [
  ...['webgpu', 'sharp', '@julusian/jpeg-turbo', '@cornerstonejs/codec-openjpeg'],
  `@seydx/node-av-linux-${process.arch}`,
];

/** Versions by name; 'not installed' if a package is missing. */
export function installedVersions(): Record<string, string> {
  const found = packages.map((name) => [name, packageVersion(name)]);
  return {
    halogrid: softwareVersion,
    results: String(resultsVersion),
    node: process.version.slice(1),
    ...Object.fromEntries(found),
  };
}

function packageVersion(name: string): string {
  try {
    return JSON.parse(readFileSync(findPackageJSON(name, import.meta.url)!, 'utf8')).version;
  } catch {
    return 'not installed';
  }
}
