import { join, resolve } from 'node:path';
import { writeFileAtomically } from '@halogrid/results/write-file-atomically';
import {
  binsOfCell,
  type CameraChanges,
  type ChangeKind,
  cellsOf,
  changeKinds,
  findChanges,
  readFeatures,
  readFinishedJob,
} from '@halogrid/search';
import { UsageError } from '@halogrid/service';
import { makeFolders } from '@halogrid/service/make-folders';
import { type Command, InvalidArgumentError } from 'commander';
import { wholeNumber } from '../options/option-values.ts';
import { changeNotes, changeSheetRows, changesOf, describeChanges, timelineRows } from '../search/change-report.ts';

interface ChangesOptions {
  minDuration: number;
  threshold: number;
  camera?: string;
  kind?: ChangeKind[];
  out?: string;
  json?: boolean;
}

export function addChangesCommand(program: Command): void {
  program
    .command('changes')
    .summary('find what changed in each camera of a finished job')
    .description(
      'Compares the frames of each camera with the one before and with a running reference, and lists what passed, what was ' +
        'left behind, and when the view was covered, blurred or turned. Histograms by cells (run --grid 8x8) tell where.',
    )
    .argument('<out>', 'output folder of a job')
    .option(
      '--min-duration <seconds>',
      'how long a change stays to be a lasting one; in frames where their time is not known',
      wholeNumber('--min-duration', 1, 86_400),
      16,
    )
    .option(
      '--threshold <k>',
      'standard deviations above the median of a cell, by its median deviation, that are no longer usual',
      wholeNumber('--threshold', 1, 1000),
      8,
    )
    .option('--camera <name>', 'only this camera')
    .option('--kind <names>', `only these, of ${changeKinds.join(', ')} (all)`, readKinds)
    .option('--out <dir>', 'also write events.jsonl, timeline.svg and a contact sheet there')
    .option('--json', 'as JSON')
    .action(async (out: string, options: ChangesOptions) => listChanges(out, options));
}

function readKinds(text: string): ChangeKind[] {
  return text.split(',').map((name) => {
    const kind = changeKinds.find((one) => one === name);
    if (!kind) throw new InvalidArgumentError(`Expected some of ${changeKinds.join(', ')} but received '${name}'`);
    return kind;
  });
}

async function listChanges(folder: string, options: ChangesOptions): Promise<void> {
  const job = await readFinishedJob(resolve(folder));
  const { pipeline } = job;
  const shape = { ...pipeline.grid, bins: binsOfCell(pipeline) };
  const { minDuration, threshold, camera } = options;
  const found = await findChanges(readFeatures(job), shape, { minDuration, times: threshold, camera });
  checkFrames(folder, found, camera);
  const cameras = found.map((one) => ({
    ...one,
    events: one.events.filter(({ kind }) => options.kind?.includes(kind) ?? true),
  }));
  const changes = cameras.flatMap((one) => changesOf(one, shape.columns));
  for (const note of changeNotes(cameras)) process.stderr.write(`${note}\n`);
  process.stdout.write(
    options.json ? `${JSON.stringify(changes, null, 2)}\n` : describeChanges(changes, cameras, cellsOf(pipeline)),
  );
  if (options.out !== undefined) await writeChanges(options.out, changes, cameras);
}

/** Throws one sentence where there is nothing to compare. */
function checkFrames(folder: string, cameras: readonly CameraChanges[], camera: string | undefined): void {
  const frames = cameras.reduce((sum, one) => sum + one.frames, 0);
  if (frames === 0 && camera !== undefined)
    throw new UsageError(`The job in '${folder}' has no frame of camera '${camera}'`);
  if (frames < 2)
    throw new UsageError(
      `The job in '${folder}' has ${frames === 0 ? 'no frame' : 'one frame'}: nothing can have changed`,
    );
  if (cameras.every(({ empty, withoutTime }, i) => empty + withoutTime === cameras[i]!.frames)) {
    throw new UsageError(`No frame of the job in '${folder}' counts a pixel, so that none can be compared`);
  }
}

async function writeChanges(out: string, changes: readonly object[], cameras: readonly CameraChanges[]): Promise<void> {
  const [{ contactSheet }, { changesSvg }] = await Promise.all([
    import('@halogrid/results/contact-sheet'),
    import('@halogrid/results/changes-svg'),
  ]);
  await makeFolders(out);
  await writeFileAtomically(join(out, 'events.jsonl'), changes.map((change) => `${JSON.stringify(change)}\n`).join(''));
  await writeFileAtomically(join(out, 'timeline.svg'), changesSvg('What changed', timelineRows(cameras)));
  const sheet = await contactSheet(cameras.flatMap(changeSheetRows));
  await writeFileAtomically(join(out, 'before-after.png'), sheet);
  process.stderr.write(`Written: events.jsonl, timeline.svg and before-after.png in ${out}.\n`);
}
