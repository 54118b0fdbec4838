import { componentFrame, type JpegFrame } from '../frame/jpeg-frame.ts';
import type { JpegFile } from './batch-layout.ts';

/** A file of a batch whose colours are wanted; its frame `hasColours`. */
export interface ColourJpegFile extends Pick<JpegFile, 'frame' | 'offset' | 'bytes'> {
  /** Where red, green and blue go: byte of the first red pixel, bytes from row to row and from plane to plane; multiples of 8. */
  planes: { offset: number; stride: number; planeBytes: number };
  /** Byte of the same buffer from which on there is room for its chroma, `chromaBytes` of it; a multiple of 8. */
  chroma: number;
}

/** A batch in colour, of which the files and data files go to `layOutJpegs` first. */
export interface ColourBatchLayout {
  /** The components of each file, one after another, as files of their own. */
  files: readonly JpegFile[];
  /** Where those of each file begin, and where those of the last end. */
  firsts: readonly number[];
  /** For each component the number of the first one of its file, which has the same data. */
  dataFiles: readonly number[];
  /** What the buffer of files of the last pass holds. */
  records: Uint32Array<ArrayBuffer>;
  count: number;
  mostWidth: number;
  mostHeight: number;
}

const recordWords = 18;

const strideOf = (frame: JpegFrame): number => 8 * Math.ceil(frame.width / 8);

/** Room that the chroma of a file takes. */
export function chromaBytes(frame: JpegFrame): number {
  let bytes = 0;
  for (let i = 1; i < frame.components.length; i++) {
    const own = componentFrame(frame, i);
    bytes += strideOf(own) * own.height;
  }
  return bytes;
}

export function layOutColours(batch: readonly ColourJpegFile[]): ColourBatchLayout {
  const files: JpegFile[] = [];
  const firsts: number[] = [];
  const dataFiles: number[] = [];
  const records = new Uint32Array(Math.max(1, batch.length) * recordWords);
  for (const [nth, { frame, offset, bytes, planes, chroma }] of batch.entries()) {
    if (planes.planeBytes % 8 !== 0 || chroma % 8 !== 0)
      throw new RangeError(`Planes ${planes.planeBytes} bytes apart, and chroma at byte ${chroma}: not in words of 8`);
    const first = files.length;
    firsts.push(first);
    dataFiles.push(...frame.components.map(() => first));
    files.push({ frame, offset, bytes, plane: planes });
    let at = chroma;
    const components = frame.components.slice(1).flatMap((_, i) => {
      const own = componentFrame(frame, i + 1);
      const plane = { offset: at, stride: strideOf(own) };
      files.push({ frame: own, offset, bytes, plane });
      at += plane.stride * own.height;
      const pixels = [frame.lumaAcross / own.lumaAcross, frame.lumaDown / own.lumaDown];
      return [plane.offset, plane.stride, own.width, own.height, ...pixels];
    });
    const starts = [0, 1, 2].map((plane) => (planes.offset + plane * planes.planeBytes) / 4);
    const record = [...starts, planes.stride / 4, frame.width, frame.height, ...components];
    records.set(record, nth * recordWords);
  }
  firsts.push(files.length);
  const most = (of: (frame: JpegFrame) => number) => Math.max(0, ...batch.map(({ frame }) => of(frame)));
  const [mostWidth, mostHeight] = [most(({ width }) => width), most(({ height }) => height)];
  return { files, firsts, dataFiles, records, count: batch.length, mostWidth, mostHeight };
}
