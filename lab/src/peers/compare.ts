// Compares halogrid with what people write in Python, on the cores of this machine, in turns.
//   npm run lab -- peers [image] [frames] [memory] [--repetitions N] [--json FILE] [OPTIONS]
// lab/src/peers/README.md lists the options, and says what is measured and compared.
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Cluster } from '../../../test/cluster.ts';
import { halogrid, halogridOn, python, workers } from './contestant.ts';
import { describeInMemory, type MemoryRates, raceInMemory } from './in-memory.ts';
import { type ImageFormat, imageFormats, makeFrameFolder, makeImage } from './inputs.ts';
import { type Race, type RaceResult, race } from './race.ts';
import { describeRace, speedUps } from './report.ts';

const parts = ['image', 'frames', 'memory'] as const;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    repetitions: { type: 'string', default: '3' },
    side: { type: 'string', default: '8192' },
    format: { type: 'string', default: 'pgm' },
    tile: { type: 'string', default: '2048' },
    chunk: { type: 'string', default: '1024' },
    frames: { type: 'string', default: '1000' },
    quality: { type: 'string', default: '75' },
    scene: { type: 'string' },
    python: { type: 'string', default: '/usr/bin/python3' },
    json: { type: 'string' },
  },
});

function whole(name: Exclude<keyof typeof values, 'format' | 'scene' | 'python' | 'json'>, least: number): number {
  const value = Number(values[name]);
  if (Number.isInteger(value) && value >= least) return value;
  throw new Error(`Expected a whole number from ${least} for --${name} but received '${values[name]}'`);
}

const repetitions = whole('repetitions', 1);
const side = whole('side', 64);
const tile = whole('tile', 1);
const chunk = whole('chunk', 16);
const frames = whole('frames', 1);
const quality = whole('quality', 1);
const format = values.format as ImageFormat;
if (!imageFormats.includes(format)) {
  throw new Error(`Expected one of ${imageFormats.join(', ')} for --format but received '${values.format}'`);
}
const unknown = positionals.find((part) => !(parts as readonly string[]).includes(part));
if (unknown !== undefined) throw new Error(`Expected some of ${parts.join(', ')} but received '${unknown}'`);
const chosen = positionals.length > 0 ? positionals : parts;
const interpreter = values.python;

/** Without a limit of its own, a cluster of tests ends after minutes. */
const longestRaceMs = 24 * 3_600_000;

/**
 * The eight neighbours of scikit-image, on a circle: computed exactly, with zeros around the image.
 */
const circle = ['--op', 'lbp:convention=scikit-image'];

const folder = await mkdtemp(join(tmpdir(), 'halogrid-peers-'));
const note = (line: string): void => console.error(line);
const machine = { cpu: cpus()[0]!.model, cores: workers, node: process.version, ...pythonVersions() };
const loadBefore = loadavg();
const races: RaceResult[] = [];
let memory: MemoryRates | undefined;
try {
  const kinds = [...(chosen.includes('image') ? [imageRace] : []), ...(chosen.includes('frames') ? [frameRace] : [])];
  for (const prepare of kinds) {
    const cluster = await Cluster.start({ maxLifeMs: longestRaceMs });
    races.push(await race(await prepare(cluster), repetitions, folder, note));
    await cluster.stop();
  }
  if (chosen.includes('memory')) memory = await raceInMemory(repetitions, interpreter);
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
const load = { before: loadBefore, after: loadavg() };

console.log(
  `${Object.entries(machine)
    .map(([name, value]) => `${name} ${value}`)
    .join(
      ', ',
    )}; ${repetitions} turns; load ${load.before[0]!.toFixed(1)} before, ${load.after[0]!.toFixed(1)} after\n`,
);
for (const result of races) console.log(describeRace(result));
if (memory) console.log(describeInMemory(memory));
if (values.json) {
  const report = {
    machine,
    load,
    repetitions,
    races: races.map((result) => ({
      input: { ...result.input, path: undefined },
      runs: result.entries.map(({ contestant: { name, definition }, samples }) => ({ name, definition, samples })),
      speedUps: speedUps(result),
      comparisons: result.comparisons,
    })),
    memory,
  };
  await writeFile(values.json, `${JSON.stringify(report, null, 1)}\n`);
}
// A definition in integers has one result. scikit-image rounds, so some of its codes differ.
const wrong = races
  .flatMap(({ comparisons }) => comparisons)
  .some((it) => it.definition === 'square' && it.unequal > 0);
process.exit(wrong ? 1 : 0);

async function imageRace(cluster: Cluster): Promise<Race> {
  return {
    input: await makeImage(folder, side, format),
    warmUp: await makeImage(folder, 1024, format),
    contestants: [
      python(
        `Dask + scikit-image, chunks of ${chunk}, ${workers} threads`,
        'circle',
        'dask_image.py',
        (input, result) => [input, result, String(chunk), String(workers)],
        interpreter,
      ),
      python('NumPy, 1 process', 'square', 'numpy_image.py', (input, result) => [input, result], interpreter),
      halogrid('halogrid run', 'square'),
      halogridOn(cluster),
      halogrid(`halogrid run --tile ${tile}`, 'square', ['--tile', String(tile)]),
      halogrid('halogrid run, circle', 'circle', circle),
    ],
  };
}

async function frameRace(cluster: Cluster): Promise<Race> {
  return {
    input: await makeFrameFolder(folder, frames, quality, values.scene),
    warmUp: await makeFrameFolder(folder, 8, quality, values.scene),
    contestants: [
      python(`pool of ${workers}, OpenCV + scikit-image`, 'circle', 'frame_pool.py', pool('skimage'), interpreter),
      python(`pool of ${workers}, OpenCV + NumPy`, 'square', 'frame_pool.py', pool('numpy'), interpreter),
      halogrid('halogrid run', 'square'),
      halogridOn(cluster),
      halogrid('halogrid run, circle', 'circle', circle),
    ],
  };
}

function pool(library: 'skimage' | 'numpy') {
  return (input: string, result: string) => [library, input, result, String(workers)];
}

/** The versions of Python and its packages. Throws with the packages to install if one is missing. */
function pythonVersions(): Record<string, string> {
  const program =
    'import sys, json, cv2, dask, numpy, skimage, tifffile; print(json.dumps({"python": sys.version.split()[0], ' +
    '"numpy": numpy.__version__, "dask": dask.__version__, "scikit-image": skimage.__version__, "opencv": cv2.__version__}))';
  try {
    return JSON.parse(execFileSync(interpreter, ['-c', program], { encoding: 'utf8' }));
  } catch (error) {
    throw new Error(
      `${interpreter} cannot import all of NumPy, Dask, scikit-image, OpenCV and tifffile; on Debian: ` +
        'apt-get install python3-numpy python3-dask python3-skimage python3-opencv python3-tifffile',
      { cause: error },
    );
  }
}
