import { join } from 'node:path';
import type { ReadOptions } from '@halogrid/imaging';
import { placeAt } from '@halogrid/results/place';
import { writeFileAtomically } from '@halogrid/results/write-file-atomically';
import {
  type CameraChanges,
  type ChangeKind,
  cellsOfGrid,
  countsOfCell,
  findChanges,
  readFeatures,
  readFinishedJob,
  readOf,
} from '@halogrid/search';
import { UsageError } from '@halogrid/service';
import { makeFolders } from '@halogrid/service/make-folders';
import { anotherFolder, writing } from '@halogrid/service/system-errors';
import { changeNotes, changeSheetRows, changesOf, describeChanges, timelineRows } from './change-report.ts';

export interface ChangesOptions {
  minDuration: number;
  threshold: number;
  camera?: string;
  /** The pipeline whose histograms are compared, if the job has several. */
  pipeline?: string;
  kind?: ChangeKind[];
  out?: string;
  json?: boolean;
}

/** Prints what changed in each camera of the job whose output is in a folder or at an s3: URI. */
export async function listChanges(of: string, options: ChangesOptions): Promise<void> {
  const job = await readFinishedJob(placeAt(of).at, options.pipeline);
  const { pipeline } = job;
  const shape = { ...pipeline.grid, bins: countsOfCell(pipeline) };
  const { minDuration, threshold, camera } = options;
  const found = await findChanges(readFeatures(job), shape, { minDuration, times: threshold, camera });
  checkFrames(of, found);
  const cameras = found.map((one) => ({
    ...one,
    events: one.events.filter(({ kind }) => options.kind?.includes(kind) ?? true),
  }));
  const changes = cameras.flatMap((one) => changesOf(one, shape.columns));
  for (const note of changeNotes(cameras, minDuration)) process.stderr.write(`${note}\n`);
  process.stdout.write(
    options.json ? `${JSON.stringify(changes, null, 2)}\n` : describeChanges(changes, cameras, cellsOfGrid(pipeline)),
  );
  const { out } = options;
  if (out !== undefined) await writing(out, anotherFolder, () => writeChanges(out, changes, cameras, readOf(pipeline)));
}

/** Throws one sentence if there is nothing to compare. */
function checkFrames(of: string, cameras: readonly CameraChanges[]): void {
  const frames = cameras.reduce((sum, one) => sum + one.frames, 0);
  if (frames < 2)
    throw new UsageError(`The job in '${of}' has ${frames === 0 ? 'no frame' : 'one frame'}: nothing can have changed`);
  if (cameras.every(({ empty, withoutTime }, i) => empty + withoutTime === cameras[i]!.frames)) {
    throw new UsageError(`No frame of the job in '${of}' counts a pixel, so nothing can be compared`);
  }
}

async function writeChanges(
  out: string,
  changes: readonly object[],
  cameras: readonly CameraChanges[],
  read: ReadOptions,
): Promise<void> {
  const [{ contactSheet }, { changesSvg }] = await Promise.all([
    import('@halogrid/results/contact-sheet'),
    import('@halogrid/results/changes-svg'),
  ]);
  await makeFolders(out);
  await writeFileAtomically(join(out, 'events.jsonl'), changes.map((change) => `${JSON.stringify(change)}\n`).join(''));
  await writeFileAtomically(join(out, 'timeline.svg'), changesSvg('What changed', timelineRows(cameras)));
  const sheet = await contactSheet(cameras.flatMap((camera) => changeSheetRows(camera, read)));
  await writeFileAtomically(join(out, 'before-after.png'), sheet);
  process.stderr.write(`Written: events.jsonl, timeline.svg and before-after.png in ${out}.\n`);
}
