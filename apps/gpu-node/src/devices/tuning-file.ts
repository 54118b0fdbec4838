import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Size } from '@halogrid/geometry';
import { type ChooseStrategy, strategiesOf, strategyKey } from '@halogrid/kernels/gpu';
import { writeFileAtomically } from '@halogrid/results';
import { cacheFolders, makeFolders, softwareVersion } from '@halogrid/service';
import { isAbsent, nameOfFile, type TunedAdapter } from './adapter-file.ts';

/** The fastest strategy for a key of `strategyKey`. */
export interface TunedChoice {
  key: string;
  name: string;
  lanes: Size;
}

/** The content of a file. Choices of another version of the software were measured with other shaders. */
interface Tuning {
  softwareVersion: string;
  adapter: TunedAdapter;
  choices: readonly TunedChoice[];
}

const fileOf = (adapter: TunedAdapter): string => nameOfFile('tuning', adapter);

/**
 * The choices of the first folder that has some. A file that cannot be read, belongs to another user or is of another
 * version is ignored, and `note` logs one line about it.
 */
export async function readTuning(
  adapter: TunedAdapter,
  folders: readonly string[],
  note: (line: string) => void,
): Promise<{ path: string; choices: readonly TunedChoice[] } | undefined> {
  for (const folder of folders) {
    const path = join(folder, fileOf(adapter));
    try {
      const { uid } = await stat(path);
      if (process.getuid && uid !== process.getuid()) throw new Error('the file belongs to another user');
      return { path, choices: parseTuning(await readFile(path, 'utf8'), adapter) };
    } catch (error) {
      if (isAbsent(error)) continue;
      note(`Ignoring the tuned choices of ${path}: ${(error as Error).message}`);
      return undefined;
    }
  }
  return undefined;
}

/** Throws Error unless the text is the tuning of this adapter by this version. */
function parseTuning(text: string, { name, driver }: TunedAdapter): readonly TunedChoice[] {
  const { softwareVersion: version, adapter, choices } = (parseJson(text) ?? {}) as Partial<Tuning>;
  if (version !== undefined && version !== softwareVersion) {
    throw new Error(`they are of version ${version}, and this is ${softwareVersion}`);
  }
  if (adapter && (adapter.name !== name || adapter.driver !== driver)) {
    throw new Error(`they are of the adapter ${adapter.name} (${adapter.driver})`);
  }
  if (!version || !adapter || !Array.isArray(choices) || !choices.every(isChoice))
    throw new Error('the file is damaged');
  return choices;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isChoice(value: unknown): value is TunedChoice {
  const { key, name, lanes } = (value ?? {}) as Partial<TunedChoice>;
  const isText = typeof key === 'string' && typeof name === 'string';
  return isText && Number.isInteger(lanes?.width) && Number.isInteger(lanes?.height);
}

/** Writes the choices to the first folder that can be written, and returns the file's path. */
export async function writeTuning(
  adapter: TunedAdapter,
  choices: readonly TunedChoice[],
  folders: readonly string[],
): Promise<string> {
  const { name, driver } = adapter;
  const tuning: Tuning = { softwareVersion, adapter: { name, driver }, choices };
  const refusals: string[] = [];
  for (const folder of folders) {
    const path = join(folder, fileOf(adapter));
    try {
      await makeFolders(folder, 0o700);
      await writeFileAtomically(path, `${JSON.stringify(tuning, null, 2)}\n`);
      return path;
    } catch (error) {
      refusals.push((error as Error).message);
    }
  }
  throw new Error(`The choices cannot be kept: ${refusals.join('; ')}`);
}

/** Removes the choices of an adapter, and returns the paths of the removed files. */
export async function forgetTuning(adapter: TunedAdapter, folders: readonly string[]): Promise<string[]> {
  const removed: string[] = [];
  for (const folder of folders) {
    const path = join(folder, fileOf(adapter));
    try {
      await rm(path);
      removed.push(path);
    } catch (error) {
      if (!isAbsent(error)) throw error;
    }
  }
  return removed;
}

/** The strategies that `halogrid tune` chose for an adapter; none if it was not run. `note` logs what is used. */
export async function tunedChoice(adapter: TunedAdapter, note: (line: string) => void): Promise<ChooseStrategy> {
  const tuning = await readTuning(adapter, cacheFolders(process.env), note);
  if (!tuning) return () => undefined;
  note(`Using ${tuning.choices.length} tuned choices of ${tuning.path}`);
  return chooseAmong(tuning.choices);
}

/** Looks choices up. A choice that is not among the exact strategies of its kernel is ignored. */
export function chooseAmong(choices: readonly TunedChoice[]): ChooseStrategy {
  const byKey = new Map(choices.map((choice) => [choice.key, choice]));
  return (operation, output, ofSmallCells) => {
    // The choices were measured on whole images.
    if (ofSmallCells) return undefined;
    const choice = byKey.get(strategyKey(operation, output));
    return strategiesOf(operation, output).find(({ name, lanes, isExact }) => {
      const isChosen = name === choice?.name && lanes.width === choice.lanes.width;
      return isExact && isChosen && lanes.height === choice.lanes.height;
    });
  };
}
