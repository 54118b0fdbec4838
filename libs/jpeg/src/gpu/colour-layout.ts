import { componentFrame, type JpegFrame } from '../frame/jpeg-frame.ts';
import { type JpegBatchLayout, type JpegFile, type JpegPlane, layOutJpegs, placePlane } from './batch-layout.ts';

/**
 * Planes of red, green and blue. `offset` is the first pixel of red; `planeBytes`, a multiple of 8, is the distance
 * between planes.
 */
export interface RgbPlanes extends JpegPlane {
  planeBytes: number;
}

/** How to make colours once the components of a batch's files are decoded, each like its own file. */
export interface ColourLayout {
  /** The index of each file's first component among all components of the batch, and as last entry their number. */
  firsts: Uint32Array<ArrayBuffer>;
  /** The content of the last pass's buffer of files. */
  records: Uint32Array<ArrayBuffer>;
  mostWidth: number;
  mostHeight: number;
}

/**
 * Words per file in `records`, as in colours.wgsl: six of its own, then six for each of the two components of chroma.
 */
const [firstPart, partWords] = [6, 6];
const recordWords = firstPart + 2 * partWords;

const strideOf = ({ width }: JpegFrame): number => 8 * Math.ceil(width / 8);

/**
 * The components of a frame as frames. The same frame gives the same objects, so that their tables are looked up once.
 */
const known = new WeakMap<JpegFrame, readonly JpegFrame[]>();
function componentsOf(frame: JpegFrame): readonly JpegFrame[] {
  const present = known.get(frame);
  if (present) return present;
  const components = frame.components.map((_, i) => (i === 0 ? frame : componentFrame(frame, i)));
  known.set(frame, components);
  return components;
}

/** The bytes that the chroma of a file takes. */
export const chromaBytes = (frame: JpegFrame): number =>
  componentsOf(frame)
    .slice(1)
    .reduce((sum, own) => sum + strideOf(own) * own.height, 0);

/** Lays out a batch of files whose frames `hasColours`. Call `placeColours` for each before the batch is decoded. */
export function layOutColours(batch: readonly JpegFile[]): { layout: JpegBatchLayout; colours: ColourLayout } {
  const files: JpegFile[] = [];
  const dataFiles: number[] = [];
  const firsts = new Uint32Array(batch.length + 1);
  const records = new Uint32Array(Math.max(1, batch.length) * recordWords);
  let [mostWidth, mostHeight] = [0, 0];
  for (const [nth, { frame, offset, bytes }] of batch.entries()) {
    const first = files.length;
    const { width, height, lumaAcross, lumaDown } = frame;
    records.set([width, height], nth * recordWords + 4);
    for (const [i, own] of componentsOf(frame).entries()) {
      files.push({ frame: own, offset, bytes });
      dataFiles.push(first);
      if (i === 0) continue;
      const pixels = [lumaAcross / own.lumaAcross, lumaDown / own.lumaDown];
      const at = nth * recordWords + firstPart + (i - 1) * partWords;
      records.set([0, strideOf(own), own.width, own.height, ...pixels], at);
    }
    firsts[nth + 1] = files.length;
    mostWidth = Math.max(mostWidth, width);
    mostHeight = Math.max(mostHeight, height);
  }
  return { layout: layOutJpegs(files, dataFiles), colours: { firsts, records, mostWidth, mostHeight } };
}

/**
 * Sets the place of a file's colours, by the file's index in the batch. Its chroma is decoded to the same buffer from
 * byte `chroma` on, a multiple of 8. Returns the end of the chroma. Throws RangeError.
 */
export function placeColours(
  { layout, colours: { firsts, records } }: { layout: JpegBatchLayout; colours: ColourLayout },
  file: number,
  planes: RgbPlanes,
  chroma: number,
): number {
  const { offset, stride, planeBytes } = planes;
  if (planeBytes % 8 !== 0 || chroma % 8 !== 0) {
    throw new RangeError(`Planes ${planeBytes} bytes apart, and chroma at byte ${chroma}: not in words of 8`);
  }
  const first = firsts[file]!;
  placePlane(layout, first, planes);
  const record = file * recordWords;
  records.set([0, 1, 2].map((plane) => (offset + plane * planeBytes) / 4).concat(stride / 4), record);
  let end = chroma;
  for (let component = first + 1; component < firsts[file + 1]!; component++) {
    const at = record + firstPart + (component - first - 1) * partWords;
    const own = { offset: end, stride: records[at + 1]! };
    placePlane(layout, component, own);
    records[at] = end;
    end += own.stride * records[at + 3]!;
  }
  return end;
}
