// Measures raw frames that a node reads from files, without a coordinator, and in turns a C program that reads the same
// files into the same upload memory and into plain memory.
//   UV_THREADPOOL_SIZE=$(nproc) npm run lab -- node-raw FOLDER [FRAMES] [REPETITIONS] [gpu|software] [all|reads]
// `reads` runs the C program alone. Two runs at a time, each with one GPU, show what the host gives to both.
// Frames are PGM of 1080p of a drawn scene, 2 MB each, separate files in a new folder in FOLDER (/dev/shm: no disk).
// Needs cc. Prints medians, least and most.
import { execFileSync } from 'node:child_process';
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFrames } from '@halogrid/bench/make-frames';
import { openScene } from '@halogrid/bench/scene';
import { spreadOf } from '@halogrid/bench/statistics';
import { requestDevice } from '@halogrid/kernels/webgpu';
import { forEachLimited } from '@halogrid/threads';
import { loadKoffi } from '@halogrid/threads/load-koffi';
import { openAdapter } from '../../../apps/gpu-node/src/devices/webgpu-adapter.ts';
import { timeFedNode } from '../jpeg/fed-node.ts';

const [where = tmpdir(), frames = '2000', turns = '5', kind = 'gpu', what = 'all'] = process.argv.slice(2);
const repetitions = Number(turns);
const size = { width: 1920, height: 1080 };
const slotBytes = size.width * size.height + 4096;
/** At least as many as batches of a node have room for. */
const slots = 128;

type ReadFiles = (
  lines: string,
  count: number,
  to: Uint8Array,
  slotBytes: number,
  each: number,
  threads: number,
) => number;

function compileReader(folder: string): ReadFiles {
  const library = join(folder, 'read-files.so');
  const source = fileURLToPath(new URL('./read-files.c', import.meta.url));
  execFileSync('cc', ['-O2', '-shared', '-fPIC', '-pthread', '-o', library, source]);
  const signature =
    'double read_files(const char *lines, int count, uint8_t *slots, size_t slotBytes, int each, int threads)';
  return loadKoffi().load(library).func(signature) as ReadFiles;
}

/** Makes separate files, copies of 32 drawn frames. Resolves with their paths. */
async function makeFiles(folder: string): Promise<string[]> {
  const drawn = join(folder, 'drawn');
  await makeFrames(drawn, 32, size, { kind: 'pgm', quality: 0 }, await openScene(size));
  const names = (await readdir(drawn)).toSorted();
  const paths = Array.from({ length: Number(frames) }, (_, i) => join(folder, `${String(i).padStart(6, '0')}.pgm`));
  await forEachLimited(
    paths.map((path, i) => ({ path, from: join(drawn, names[i % names.length]!) })),
    8,
    ({ path, from }) => copyFile(from, path),
  );
  return paths;
}

const row = (name: string, rates: readonly number[]): void => {
  const { median, min, max } = spreadOf(rates);
  const gigabytes = (median * size.width * size.height) / 1e9;
  console.log(
    `${name}: ${median.toFixed(0)} (${min.toFixed(0)} … ${max.toFixed(0)}) frames/s, ${gigabytes.toFixed(1)} GB/s`,
  );
};

const folder = await mkdtemp(join(where, 'halogrid-bench-'));
try {
  const readFiles = compileReader(folder);
  const paths = await makeFiles(folder);
  const lines = paths.join('\n');
  const device = await requestDevice((await openAdapter(kind as 'gpu' | 'software')).adapter);
  const { MAP_WRITE, COPY_SRC } = GPUBufferUsage;
  const upload = device.createBuffer({ size: slots * slotBytes, usage: MAP_WRITE | COPY_SRC, mappedAtCreation: true });
  const memory = {
    'upload memory': new Uint8Array(upload.getMappedRange()),
    'plain memory': Buffer.alloc(slots * slotBytes, 1),
  };
  const read = new Map<string, number[]>();
  const readAll = (): void => {
    for (const [name, bytes] of Object.entries(memory)) {
      for (const threads of new Set([8, availableParallelism()])) {
        const seconds = readFiles(lines, paths.length, bytes, slotBytes, Math.floor(slots / threads), threads);
        if (seconds < 0) throw new Error('A file cannot be read');
        const title = `C, ${threads} threads, into ${name}`;
        read.set(title, [...(read.get(title) ?? []), paths.length / seconds]);
      }
    }
  };
  // The first pass touches the memory for the first time.
  readAll();
  read.clear();
  const rates: number[] = [];
  const cores: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    readAll();
    if (what === 'reads') continue;
    const names = paths.map((path) => path.slice(folder.length + 1));
    const fed = { device: kind as 'gpu', folder, names, frameBytes: size.width * size.height, repetitions: 1 };
    const [
      {
        rates: [rate],
        coreSeconds: [core],
      } = { rates: [], coreSeconds: [] },
    ] = await timeFedNode({ ...fed, decodes: ['gpu'] }, () => {});
    rates.push(rate!);
    cores.push(core!);
  }
  for (const [title, found] of read) row(title, found);
  if (rates.length > 0) {
    row('a node, to histograms', rates);
    console.log(`cores that it has at work: ${spreadOf(cores).median.toFixed(1)}`);
  }
  upload.destroy();
  device.destroy();
} finally {
  await rm(folder, { recursive: true });
}
