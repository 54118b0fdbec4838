// Separate from results.ts, because loading libvips takes 50 ms of processor time (measured).
import sharp from 'sharp';

/** The codes of a map file, row by row, as libvips reads them. */
export async function readMap(path: string): Promise<{ width: number; height: number; codes: Uint8Array }> {
  const { data, info } = await sharp(path, { limitInputPixels: false })
    .toColourspace('b-w')
    .raw()
    .toBuffer({ resolveWithObject: true });
  if (info.channels !== 1) throw new Error(`Expected one channel in '${path}' but found ${info.channels}`);
  return { width: info.width, height: info.height, codes: data };
}

/** The samples of a map file as libvips reads them, bands one after another. */
export interface Bands {
  width: number;
  height: number;
  bands: number;
  samples: Uint8Array | Uint16Array | Uint32Array | Int16Array | Float32Array;
}

const arrays = {
  uchar: Uint8Array,
  ushort: Uint16Array,
  uint: Uint32Array,
  short: Int16Array,
  float: Float32Array,
} as const;

/** Reads each band as gray, so that libvips does not treat them as colours. */
export async function readBands(path: string): Promise<Bands> {
  const open = () => sharp(path, { limitInputPixels: false });
  const { width, height, channels, depth } = await open().metadata();
  if (!depth || !(depth in arrays)) throw new Error(`Expected another type than ${depth} in '${path}'`);
  const SampleArray = arrays[depth as keyof typeof arrays];
  const gray = SampleArray.BYTES_PER_ELEMENT === 2 ? 'grey16' : 'b-w';
  const samples = new SampleArray(width * height * channels);
  for (const band of ([0, 1, 2, 3] as const).slice(0, channels)) {
    const one = open().extractChannel(band).toColourspace(gray);
    const { buffer, byteOffset } = await one.raw({ depth }).toBuffer();
    samples.set(new SampleArray(buffer, byteOffset, width * height), band * width * height);
  }
  return { width, height, bands: channels, samples };
}
