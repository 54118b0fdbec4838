import type { Rect } from '@halogrid/geometry';
import { InputError, type InputFile, slideVersion, splitMember } from '@halogrid/sources';
import { chooseLevel } from '../formats/tiff/pyramid-levels.ts';
import { MissingDecoderError } from '../missing-decoder-error.ts';
import { checkPixels } from '../pixel-limit.ts';
import { checkDecodeRequest } from '../planes/decode-request.ts';
import type { OpenImage } from '../planes/image.ts';
import { below, type PlaneTarget } from '../planes/plane-target.ts';
import type { AskedLevel } from '../planes/read-options.ts';
import { writeRows } from '../planes/write-rows.ts';
import { filesBeside } from './files-beside.ts';
import { blockPx } from './process/read-blocks.ts';
import type { SlideFacts, SlideFile } from './process/slide-protocol.ts';
import type { SlideReader } from './slide-reader.ts';
import { readSlide } from './slide-readers.ts';

/** What helps where OpenSlide cannot reach a slide. */
const remedy = 'copy it to a folder that nodes see, with the files beside it';

/** The most pixels that come from a process at once, if a row of blocks has no more. */
const bandPixels = 2 ** 22;

/**
 * Opens a slide by OpenSlide, or a smaller level of it. Takes `file` over. Tiles are read by region, in processes of
 * their own. Rejects with InputError, and with MissingDecoderError if OpenSlide is not installed or cannot reach the
 * file.
 */
export async function openSlide(file: InputFile, uri: string, asked: AskedLevel | undefined): Promise<OpenImage> {
  // A node may be handed files that lie on a disk of others, so the file is not at fault.
  if (file.kind === 'remote')
    throw new MissingDecoderError('slide', `OpenSlide reads slides on disks, not from servers: ${remedy}`);
  if (file.kind === 'held' || splitMember(uri).member) {
    const holder = file.kind === 'held' ? 'Parquet files' : 'tars';
    throw new InputError('decode', `OpenSlide reads slides on disks, not in ${holder}: ${remedy}`);
  }
  const { path } = file;
  const inputBytes = file.bytesRead;
  await file.close();
  const beside = await filesBeside(path);
  const slide = { path, version: `${file.version} ${beside}` };
  const { levels, microns, by } = await read(slide, (reader) => factsOf(reader, slide));
  const level = asked ? chooseLevel(levels, asked, microns, 'slide') : 0;
  if (typeof level === 'string') throw new InputError('decode', level);
  const { width, height } = levels[level]!;
  checkPixels(width, height);
  const opened: OpenImage = {
    format: 'slide',
    width,
    height,
    pixel: 'u8',
    version: slideVersion(file.version, beside, by),
    readsRegions: true,
    inputBytes,
    mended: `decoded by OpenSlide ${by}; other versions may give other pixels`,
    async decode(region: Rect, to: PlaneTarget): Promise<void> {
      checkDecodeRequest(opened, region, to);
      await read(slide, async (reader) => {
        for (const band of bandsOf(region)) {
          const { bytes } = await reader.order({ kind: 'read', slide, level, region: band });
          const rows = { pixels: bytes, channels: 3, width: band.width, rows: band.height } as const;
          writeRows(rows, below(to, band.y - region.y));
        }
      });
    },
    close: async () => {},
  };
  return opened;
}

const read = <Result>({ path, version }: SlideFile, work: (reader: SlideReader) => Promise<Result>): Promise<Result> =>
  readSlide(`${path} ${version}`, work);

async function factsOf(reader: SlideReader, slide: SlideFile): Promise<SlideFacts> {
  const { answer } = await reader.order({ kind: 'open', slide });
  if (answer.kind !== 'opened') throw new Error(`The reader of slides gave '${answer.kind}' for an order to open`);
  return answer.facts;
}

/** The region in bands that end with a row of blocks, so that no block is read twice. */
export function bandsOf({ x, y, width, height }: Rect): Rect[] {
  const blocksDown = Math.max(1, Math.floor(bandPixels / width / blockPx));
  const bands: Rect[] = [];
  for (let top = y; top < y + height; ) {
    const end = Math.min(y + height, (Math.floor(top / blockPx) + blocksDown) * blockPx);
    bands.push({ x, y: top, width, height: end - top });
    top = end;
  }
  return bands;
}
