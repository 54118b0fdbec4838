// Measures the peak memory of every process of a run, by the size of an image and by the number of frames.
//   npm run lab -- memory [images] [frames] [--sizes 0.6,1.2,2.4] [--map tiff] [--bits 8] [--frames 200000]
//     [--folder halogrid-out/memory]
// lab/src/memory/README.md says what it draws and runs.
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { hasProc } from '../../../test/process-list.ts';
import { describeFrames, measureFrames } from './frame-job.ts';
import { describeImages, type ImageMeasurement, measureImage } from './image-job.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: 'string', default: 'halogrid-out/memory' },
    sizes: { type: 'string', default: '0.6,1.2,2.4' },
    map: { type: 'string', default: 'tiff' },
    bits: { type: 'string', default: '8' },
    frames: { type: 'string', default: '200000' },
  },
});
if (!hasProc) throw new Error('Peaks are told by /proc, which this system does not have');
const parts = positionals.length > 0 ? positionals : ['images', 'frames'];
if (existsSync(values.folder)) throw new Error(`'${values.folder}' is there already, and would be deleted`);
mkdirSync(values.folder, { recursive: true });
try {
  if (parts.includes('images')) {
    const rows: ImageMeasurement[] = [];
    for (const gigapixels of values.sizes.split(',').map(Number)) {
      const folder = join(values.folder, String(gigapixels));
      rows.push(await measureImage(folder, gigapixels, values.map, values.bits === '16' ? 16 : 8));
      console.log(describeImages(rows.slice(-1)));
      // Only one size is on the disk at a time.
      rmSync(folder, { recursive: true });
    }
    console.log(`\n${describeImages(rows)}`);
  }
  if (parts.includes('frames')) {
    console.log(describeFrames(await measureFrames(join(values.folder, 'frames'), Number(values.frames))));
  }
} finally {
  rmSync(values.folder, { recursive: true, force: true });
}
