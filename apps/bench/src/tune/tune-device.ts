import type { Size } from '@halogrid/geometry';
import { forgetJpegRate, forgetTuning, readTuning, type TunedChoice, writeTuning } from '@halogrid/gpu-node/devices';
import type { Operation } from '@halogrid/kernels';
import { type Strategy, strategiesOf, strategyKey } from '@halogrid/kernels/gpu';
import { cacheFolders } from '@halogrid/service';
import { table } from '@halogrid/service/text-table';
import { drawGrayScene } from '../images/draw-scene.ts';
import { type KernelCase, stageCase } from '../timing/kernel-case.ts';
import { firstOfEachName, laneShape } from '../timing/strategy-shapes.ts';
import { type TimingOptions, timeStrategies } from '../timing/time-strategies.ts';
import { describeDevice, withTimedDevice } from '../timing/timed-device.ts';
import { chooseStrategy, type Quartiles, quartilesOf } from './choose-strategy.ts';
import { quickCases, tunedCases } from './tuned-cases.ts';

interface TuneOptions {
  kind: 'gpu' | 'software';
  isQuick: boolean;
}

/** A strategy and its times. */
interface Measured extends Strategy {
  ms: Quartiles;
}

/** The strategies of a case, the default first. */
interface TunedCase {
  tuned: KernelCase;
  key: string;
  measured: readonly Measured[];
  /** Index of the strategy to use. */
  chosen: number;
}

/**
 * Measures a device and keeps the fastest strategies for `run` and `node`. Resolves with the text to print. Rejects
 * with one sentence if the device cannot be measured.
 */
export async function tuneDevice({ kind, isQuick }: TuneOptions, note: (line: string) => void): Promise<string> {
  const size = sizeOf(kind, isQuick);
  const photo = drawTuningImage(size);
  const cases = isQuick ? quickCases : tunedCases;
  // 15: an outlier or two do not move quartiles. 20: a sample is much longer than the step of the clock.
  const timing = kind === 'gpu' ? { repetitions: 15, runsPerSample: 20 } : { repetitions: 7, runsPerSample: 1 };
  const folders = cacheFolders(process.env);
  return withTimedDevice(kind, async (device, info, check) => {
    const done: TunedCase[] = [];
    for (const [i, one] of cases.entries()) {
      note(`${i + 1} of ${cases.length}: ${one.name}, ${one.output}`);
      done.push(await tuneCase(device, { ...one, images: { size, photo } }, isQuick, timing));
      check(one.name);
    }
    const fresh = done.map(choiceOf);
    const kept = (await readTuning(info, folders, note))?.choices ?? [];
    const keys = new Set(fresh.map(({ key }) => key));
    const path = await writeTuning(info, [...kept.filter(({ key }) => !keys.has(key)), ...fresh], folders);
    const title = `${info.name}, ${size.width} x ${size.height}, ${timing.repetitions} repetitions`;
    return `${title}\n${tuningTable(done)}run and node use the choices from now on: ${path}\n`;
  });
}

/** Removes the kept choices and the kept JPEG rate of a device. Resolves with the text to print. */
export async function forgetDevice(kind: 'gpu' | 'software'): Promise<string> {
  const info = await describeDevice(kind);
  const folders = cacheFolders(process.env);
  const removed = [...(await forgetTuning(info, folders)), ...(await forgetJpegRate(info, folders))];
  if (removed.length === 0) return `There are no tuned choices of ${info.name}\n`;
  return removed.map((path) => `Removed ${path}\n`).join('');
}

function sizeOf(kind: 'gpu' | 'software', isQuick: boolean): Size {
  if (kind === 'gpu') return { width: 4096, height: 2160 };
  return isQuick ? { width: 256, height: 128 } : { width: 1024, height: 512 };
}

/**
 * A gray picture whose lower half is black. The upper half scatters over all bins, the lower one falls into a single
 * bin, where atomic additions queue.
 */
function drawTuningImage({ width, height }: Size): Uint8Array {
  const image = new Uint8Array(width * height);
  image.set(drawGrayScene({ width, height: Math.ceil(height / 2) }));
  return image;
}

async function tuneCase(
  device: GPUDevice,
  tuned: KernelCase,
  isQuick: boolean,
  timing: TimingOptions,
): Promise<TunedCase> {
  const staged = stageCase(tuned, tuned.images!);
  const operation = staged.pipeline.operations[0]!;
  const strategies = candidatesOf(operation, tuned.output, isQuick);
  const samplesMs = await timeStrategies(device, staged, strategies, timing);
  const measured = strategies.map((strategy, i) => ({ ...strategy, ms: quartilesOf(samplesMs[i]!) }));
  const chosen = chooseStrategy(measured.map(({ ms }) => ms));
  return { tuned, key: strategyKey(operation, tuned.output), measured, chosen };
}

/** The strategies with the same results as the default; if quick, the first shape of each. */
function candidatesOf(operation: Operation, output: KernelCase['output'], isQuick: boolean): Strategy[] {
  const exact = strategiesOf(operation, output).filter(({ isExact }) => isExact);
  return isQuick ? firstOfEachName(exact) : exact;
}

function choiceOf({ key, measured, chosen }: TunedCase): TunedChoice {
  const { name, lanes } = measured[chosen]!;
  return { key, name, lanes };
}

function tuningTable(cases: readonly TunedCase[]): string {
  const rows = cases.flatMap(({ tuned, measured, chosen }) =>
    measured.map(({ ms, ...strategy }, i) => [
      tuned.name,
      tuned.output,
      strategy.name,
      laneShape(strategy),
      ms.median.toFixed(4),
      `${ms.lower.toFixed(4)} to ${ms.upper.toFixed(4)}`,
      i !== chosen ? '' : i === 0 ? 'yes, the default' : 'yes',
    ]),
  );
  return table([['operation', 'output', 'strategy', 'lanes', 'median ms', 'middle half', 'chosen'], ...rows]);
}
