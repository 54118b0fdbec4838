import { markdown } from './page-tables.ts';

/** A figure of a table: the section, the start of the row, the column, and which number of the cell it is, from 0. */
type Figure = readonly [section: string, row: string, column: string, nth?: number];

/** Text with `{0}`, `{1}` … in place of the figures that follow it. */
type Cell = readonly [text: string, ...figures: Figure[]];

interface SpeedRow {
  what: string;
  ours: Cell;
  peers?: Cell;
}

const rows: readonly SpeedRow[] = [
  {
    what: 'LBP map of 4928 x 2772 pixels, one H200',
    ours: ['{0} ms ({1} in batches)', ['Kernels', 'LBP map', 'ms'], ['Kernels', 'LBP map, 8 images a dispatch', 'ms']],
    peers: ['the fastest of the CUDA kernels that people write: {0} ms', ['Kernels', 'LBP map', 'CUDA, ms']],
  },
  {
    what: 'its histogram',
    ours: ['{0} ms', ['Kernels', 'LBP histogram, random pixels', 'ms']],
    peers: ['CUDA: {0} ms', ['Kernels', 'LBP histogram, random pixels', 'CUDA, ms']],
  },
  {
    what: 'Gaussian of 21 x 21',
    ours: ['{0} ms', ['Kernels', 'conv gaussian-21', 'ms']],
    peers: ['CUDA: {0} ms', ['Kernels', 'conv gaussian-21', 'CUDA, ms']],
  },
  {
    what: 'the best 10 of 10 million frames of 1024 bins, exactly, by L1, one H200',
    ours: ['{0} ms', ['Search', '`l1`', 'one query']],
    peers: [
      'PyTorch on that GPU: {1} ms; NumPy, 16 threads: {0} s',
      ['Search', 'NumPy on 16 threads', 'one query', 0],
      ['Search', 'NumPy on 16 threads', 'one query', 1],
    ],
  },
  {
    what: '160,000 1080p JPEG frames of 102 kB, end to end, decoded by one H200',
    ours: [
      '{0} and {1}/s',
      ['JPEG on the GPU', 'whole jobs of 160,000 files', 'quality 75, 102 kB', 0],
      ['JPEG on the GPU', 'whole jobs of 160,000 files', 'quality 75, 102 kB', 1],
    ],
    peers: ['nvJPEG, decoding alone: {0}/s', ['JPEG on the GPU', "NVIDIA's nvJPEG", 'quality 75, 102 kB']],
  },
  {
    what: 'JPEG frames of 147 kB on one H200; on two',
    ours: [
      '{0}/s; {1}/s',
      ['Several GPUs', 'JPEG, quality 75 (147 kB)', 'one GPU, frames/s'],
      ['Several GPUs', 'JPEG, quality 75 (147 kB)', 'two GPUs, frames/s'],
    ],
  },
  {
    what: '102,600 1080p frames of 300 H.264 recordings, end to end, 16 cores',
    ours: ['{0}/s', ['Recordings', 'end to end, cores, over FFmpeg', 'H.264, 300 × 342 frames', 1]],
    peers: ['FFmpeg, decoding alone: {0}/s', ['Recordings', 'FFmpeg, frames/s', 'H.264, 300 × 342 frames']],
  },
  {
    what: '1,000 1080p JPEG frames, two cores without a GPU, whole command',
    ours: ['{0}/s', ['Beside Python', 'frames: `halogrid run`', 'a second, whole command']],
    peers: [
      'OpenCV and NumPy: {0}/s',
      ['Beside Python', 'frames: pool of 2, OpenCV + NumPy', 'a second, whole command'],
    ],
  },
  {
    what: 'one image of 8192 x 8192, the same cores, whole command',
    ours: [
      '{0} Mpx/s; on a running cluster {1}',
      ['Beside Python', '`halogrid run`', 'a second, whole command'],
      ['Beside Python', 'the same on a running cluster', 'a second, whole command'],
    ],
    peers: [
      'NumPy: {0} Mpx/s; Dask and scikit-image: {1}',
      ['Beside Python', 'NumPy, 1 process', 'a second, whole command'],
      ['Beside Python', 'Dask + scikit-image', 'a second, whole command'],
    ],
  },
];

/** The cells of the first table below a heading of the page: the head, then the rows. */
function tableBelow(page: string, section: string): string[][] {
  const [, below = ''] = page.split(new RegExp(`^#+ ${section}$`, 'm'));
  const [table] = /(?:^\|.*\n)+/m.exec(below.split(/^#/m)[0]!) ?? [];
  if (!table) throw new Error(`docs/benchmarks.md has no table '${section}'`);
  const lines = table.trimEnd().split('\n');
  return lines.map((line) => Array.from(line.split('|').slice(1, -1), (cell) => cell.trim()));
}

function figureOf(page: string, [section, rowStart, column, nth = 0]: Figure): string {
  const [head, , ...body] = tableBelow(page, section);
  const row = body.find(([name]) => name === rowStart) ?? body.find(([name]) => name!.startsWith(rowStart));
  const numbers = row?.[head!.indexOf(column)]?.match(/\d+(,\d{3})*(\.\d+)?/g);
  const figure = numbers?.[nth];
  if (figure === undefined) {
    throw new Error(`docs/benchmarks.md has no figure ${nth} of '${rowStart}', '${column}' below '${section}'`);
  }
  const isWhole = /^\d{4,}$/.test(figure);
  return isWhole ? Number(figure).toLocaleString('en-US') : figure;
}

const cellOf = (page: string, [text, ...figures]: Cell): string =>
  text.replace(/\{(\d)\}/g, (_, i: string) => figureOf(page, figures[Number(i)]!));

/**
 * README.md with its table of speed, between `<!-- speed -->` and `<!-- /speed -->`, filled from the tables of
 * docs/benchmarks.md. Throws Error if a figure is missing there.
 */
export function fillSpeeds(readme: string, benchmarks: string): string {
  const cells = rows.map(({ what, ours, peers = [''] }) => [what, cellOf(benchmarks, ours), cellOf(benchmarks, peers)]);
  const table = markdown(['what', 'halogrid', 'peers, measured beside it'], cells);
  return readme.replace(/(<!-- speed -->\n).*?(<!-- \/speed -->)/s, `$1${table}$2`);
}
