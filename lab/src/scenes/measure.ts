// Measures a GeoTIFF of four bands with NoData, from the disk and by ranges, beside its bands as gray files.
//   npm run lab -- scenes [--side 20000] [--repetitions 1] [--device cpu] [--tile PX]
//     [--folder halogrid-out/scenes]
// lab/src/scenes/README.md says what it makes.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { sendFile, startServer } from '../../../libs/sources/src/testing/servers.ts';
import { hasProc } from '../../../test/process-list.ts';
import { readChannels, readJson } from '../../../test/results.ts';
import { runWithPeaks } from '../memory/run-with-peaks.ts';

const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: 'halogrid-out/scenes' },
    side: { type: 'string', default: '20000' },
    repetitions: { type: 'string', default: '1' },
    device: { type: 'string', default: 'cpu' },
    tile: { type: 'string' },
  },
});
const { folder, device, tile } = values;
if (!hasProc) throw new Error('Peaks are told by /proc, which this system does not have');
if (existsSync(folder)) throw new Error(`'${folder}' is there already, and would be deleted`);
mkdirSync(folder, { recursive: true });
const make = fileURLToPath(new URL('make_scene.py', import.meta.url));
try {
  execFileSync('/usr/bin/python3', [make, folder, values.side], { stdio: 'inherit' });
  const bytes = await readFile(join(folder, 'scene.tif'));
  const server = await startServer((request, response) => sendFile({ bytes, etag: '"scene"' }, request, response));
  const sources = {
    'gray files': [join(folder, 'gray')],
    scene: [join(folder, 'scene.tif'), '--band', 'all'],
    'scene by ranges': [`${server.origin}/scene.tif`, '--band', 'all'],
  };
  console.log(
    '| source | seconds | node s | node MB | coordinator MB | run MB |\n| --- | --- | --- | --- | --- | --- |',
  );
  const counts = new Map<string, number[]>();
  for (let repetition = 0; repetition < Number(values.repetitions); repetition++) {
    for (const [name, words] of Object.entries(sources)) {
      const out = join(folder, 'out');
      const peaks = await runWithPeaks([
        'run',
        ...words,
        '--out',
        out,
        '--device',
        device,
        ...(tile ? ['--tile', tile] : []),
      ]);
      const megabytes = ['node', 'coordinator', 'run'].map((role) =>
        Math.round((peaks.get(role)?.residentBytes ?? 0) / 1e6),
      );
      const nodeSeconds = peaks.get('node')?.cpuSeconds ?? 0;
      const seconds: number = readJson(out, 'job.json').wallSeconds;
      console.log(`| ${[name, seconds.toFixed(1), nodeSeconds.toFixed(1), ...megabytes].join(' | ')} |`);
      counts.set(name, countsOf(out));
      rmSync(out, { recursive: true });
    }
  }
  const [gray, ...scenes] = [...counts.values()].map(String);
  if (scenes.some((scene) => scene !== gray)) throw new Error('The histograms of scene and gray files differ');
  await server.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The sum of all channels: the bands of the scene, or the one channel of the gray files. */
function countsOf(out: string): number[] {
  return readChannels(out)
    .channels.map(({ bins }) => bins)
    .reduce((sum, bins) => sum.map((count, i) => count + bins[i]!));
}
