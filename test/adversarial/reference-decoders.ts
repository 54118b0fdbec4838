import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { askPython, pythonFails, timeoutMs } from '@halogrid/testing';
import type { Picture } from '../lbp-definition.ts';

// Decodes files with programs that are not part of halogrid. Their results count only if they print no error or
// warning.

/** The gray values of an image, or why they are not known. */
export type Reference = { picture: Picture<Uint8Array | Uint16Array> } | { none: string };

const maxBytes = 2 ** 28;

const installed = new Map<string, boolean>();
function isInstalled(program: string): boolean {
  let is = installed.get(program);
  if (is === undefined) {
    try {
      execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
      is = true;
    } catch {
      is = false;
    }
    installed.set(program, is);
  }
  return is;
}

/** The program's stdout; undefined if it fails or writes to stderr. */
function silently(program: string, args: readonly string[]): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const options = { encoding: 'buffer', maxBuffer: maxBytes, timeout: timeoutMs(20_000) } as const;
    execFile(program, args, options, (error, stdout, stderr) => {
      resolve(error || stderr.length > 0 ? undefined : stdout);
    });
  });
}

/** Decodes an image by djpeg, dwebp or ffmpeg. */
export async function decodeByOthers(path: string, bytes: Buffer): Promise<Reference> {
  const head = bytes.toString('latin1', 0, 16);
  if (head.startsWith('\xff\xd8')) return ask('djpeg', ['-grayscale', '-dct', 'int', '-pnm', path]);
  if (/^RIFF....WEBP/s.test(head)) return ask('dwebp', ['-quiet', '-ppm', path, '-o', '-']);
  const codec = codecOf(head);
  if (!codec) return { none: 'no decoder' };
  // FFmpeg 5.1 silently misreads tiles, even of good files.
  if (codec === 'tiff' && hasTiles(bytes)) return { none: 'a TIFF in tiles' };
  if (/^P[2356]/.test(head)) {
    // FFmpeg scales samples to 255 or 65535; here they stay as they are stored.
    const maximum = /^P.(?:\s+|#.*\n)+\d+(?:\s+|#.*\n)+\d+(?:\s+|#.*\n)+(\d+)/.exec(
      bytes.toString('latin1', 0, 400),
    )?.[1];
    if (!['255', '65535'].includes(String(Number(maximum)))) return { none: `samples up to ${maximum}` };
  }
  const input = ['-f', 'image2', '-pattern_type', 'none', '-c:v', codec, '-i', path];
  return ask('ffmpeg', ['-v', 'error', '-nostdin', ...input, '-frames:v', '1', '-f', 'image2pipe', '-c:v', 'pam', '-']);
}

/** GDAL's result for each TIFF; undefined if GDAL is not installed. */
export async function readTiffsByGdal(paths: readonly string[]): Promise<Reference[] | undefined> {
  const script = fileURLToPath(new URL('gdal-gray.py', import.meta.url));
  if (pythonFails('import numpy; from osgeo import gdal')) return undefined;
  const answers = askPython(script, [], paths.map((path) => `${path}\n`).join(''))
    .trim()
    .split('\n');
  return answers.map((line) => {
    const { none, width, height, bits, pixels } = JSON.parse(line);
    if (none !== undefined) return { none };
    const bytes = new Uint8Array(Buffer.from(pixels, 'base64'));
    return { picture: { width, height, pixels: bits === 16 ? new Uint16Array(bytes.buffer) : bytes } };
  });
}

function codecOf(head: string): string | undefined {
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (/^(II[*+]\0|MM\0[*+])/.test(head)) return 'tiff';
  return { P2: 'pgm', P5: 'pgm', P3: 'ppm', P6: 'ppm' }[head.slice(0, 2)];
}

/** Whether a directory might have a TileWidth entry (322) with 16 or 32 bits, in either byte order. */
const hasTiles = (bytes: Buffer): boolean => {
  const entries = ['42010300', '42010400', '01420003', '01420004'];
  return entries.some((entry) => bytes.includes(Buffer.from(entry, 'hex')));
};

async function ask(program: string, args: readonly string[]): Promise<Reference> {
  if (!isInstalled(program)) return { none: `no ${program}` };
  const pnm = await silently(program, args);
  if (!pnm || pnm.length === 0) return { none: `${program} complains` };
  return { picture: grayOf(pnm) };
}

/** The luma of a PGM, PPM or PAM, from colours as in docs/inputs.md, without alpha. */
export function grayOf(pnm: Buffer): Picture<Uint8Array | Uint16Array> {
  const { width, height, maximum, depth, bodyAt } = readHeader(pnm);
  const deep = maximum > 255;
  // Black and white in a PAM are 0 and 1.
  const scale = maximum === 1 ? 255 : 1;
  const sample = (i: number): number => scale * (deep ? pnm.readUInt16BE(bodyAt + 2 * i) : pnm[bodyAt + i]!);
  const pixels = new (deep ? Uint16Array : Uint8Array)(width * height);
  for (let i = 0; i < pixels.length; i++) {
    const at = i * depth;
    const gray = () => (19595 * sample(at) + 38470 * sample(at + 1) + 7471 * sample(at + 2) + 32768) / 65536;
    pixels[i] = depth < 3 ? sample(at) : gray();
  }
  return { width, height, pixels };
}

function readHeader(pnm: Buffer) {
  const text = pnm.toString('latin1', 0, 200);
  const plain = /^P([56])\n(\d+) (\d+)\n(\d+)\n/.exec(text);
  if (plain) {
    const [header, kind, width, height, maximum] = plain;
    return { width: +width!, height: +height!, maximum: +maximum!, depth: kind === '5' ? 1 : 3, bodyAt: header.length };
  }
  const bodyAt = text.indexOf('ENDHDR\n') + 7;
  const number = (name: string): number => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)![1]);
  const [width, height] = [number('WIDTH'), number('HEIGHT')];
  return { width, height, maximum: number('MAXVAL'), depth: number('DEPTH'), bodyAt };
}

/**
 * The gray values of all frames of a video, one after another, by ffmpeg, or for MJPEG by djpeg; undefined if the
 * program prints an error or warning.
 */
export async function decodeVideoByOthers(path: string): Promise<Buffer | undefined> {
  if (!isInstalled('ffmpeg')) return undefined;
  const args = ['-v', 'error', '-nostdin', '-i', path, '-vsync', 'passthrough', '-map', '0:v:0'];
  if (readFileSync(path).includes('MJPG')) return decodeJpegsByOthers(args);
  return silently('ffmpeg', [...args, '-f', 'rawvideo', '-pix_fmt', 'gray', '-']);
}

/**
 * Decodes frames of MJPEG with djpeg: they are defined as libjpeg decodes them, and ffmpeg decodes them differently.
 */
async function decodeJpegsByOthers(args: readonly string[]): Promise<Buffer | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-jpegs-'));
  try {
    if (!(await silently('ffmpeg', [...args, '-c', 'copy', '-f', 'image2', join(folder, '%d.jpg')]))) return undefined;
    const frames: Buffer[] = [];
    for (let number = 1; number <= readdirSync(folder).length; number++) {
      const path = join(folder, `${number}.jpg`);
      const reference = await decodeByOthers(path, readFileSync(path));
      if ('none' in reference) return undefined;
      frames.push(Buffer.from(reference.picture.pixels));
    }
    return Buffer.concat(frames);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
