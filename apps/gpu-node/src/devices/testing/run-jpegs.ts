import {
  type JpegBatchLayout,
  type JpegDecoder,
  type JpegFile,
  type JpegFrame,
  JpegScratch,
  layOutJpegs,
} from '@halogrid/jpeg';

/** A JPEG that devices may decode. */
export interface TestJpeg {
  name: string;
  jpeg: Uint8Array;
  frame: JpegFrame;
}

/** What a device has made of a batch. */
export interface DecodedJpegs {
  files: readonly JpegFile[];
  layout: JpegBatchLayout;
  /** The status of each file. */
  statuses: readonly number[];
  planes: Uint8Array;
  /** What it has left between passes. */
  scratch: Readonly<Record<keyof JpegBatchLayout['scratch'], Uint32Array>>;
}

/** Bytes between files, so that they begin anywhere in a word. */
const gap = 3;

/** Decodes a batch of JPEGs, whose planes lie as kernels read them. */
export async function runJpegs(
  device: GPUDevice,
  decoder: JpegDecoder,
  jpegs: readonly TestJpeg[],
): Promise<DecodedJpegs> {
  const files: JpegFile[] = [];
  let offset = 0;
  let planesBytes = 0;
  for (const { jpeg, frame } of jpegs) {
    const stride = roundUp(frame.width, 16);
    files.push({ frame, offset, bytes: jpeg.length, plane: { offset: planesBytes, stride } });
    offset += jpeg.length + gap;
    planesBytes = roundUp(planesBytes + stride * frame.height, 256);
  }
  const all = new Uint8Array(roundUp(offset, 4)).fill(0xff);
  for (const [i, { offset }] of files.entries()) all.set(jpegs[i]!.jpeg, offset);

  const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage;
  const bytes = device.createBuffer({ size: all.length, usage: STORAGE | COPY_DST });
  const planes = device.createBuffer({ size: planesBytes, usage: STORAGE | COPY_SRC });
  device.queue.writeBuffer(bytes, 0, all);
  const layout = layOutJpegs(files);
  const scratch = new JpegScratch(device);
  const encoder = device.createCommandEncoder();
  const buffers = scratch.prepare(layout, encoder, { bytes, planes });
  const pass = encoder.beginComputePass();
  decoder.record(pass, layout, buffers);
  pass.end();
  device.queue.submit([encoder.finish()]);
  const read = async (name: keyof JpegBatchLayout['scratch']) =>
    [name, new Uint32Array(await readBack(device, buffers[name], layout.scratch[name]))] as const;
  const names = Object.keys(layout.scratch) as (keyof JpegBatchLayout['scratch'])[];
  const left = Object.fromEntries(await Promise.all(names.map(read))) as DecodedJpegs['scratch'];
  const pixels = new Uint8Array(await readBack(device, planes, planesBytes));
  scratch.destroy();
  for (const buffer of [bytes, planes]) buffer.destroy();
  return { files, layout, statuses: files.map((_, i) => left.found[2 * i]!), planes: pixels, scratch: left };
}

async function readBack(device: GPUDevice, buffer: GPUBuffer, size: number): Promise<ArrayBuffer> {
  const { MAP_READ, COPY_DST } = GPUBufferUsage;
  const back = device.createBuffer({ size, usage: MAP_READ | COPY_DST });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, back, 0, size);
  device.queue.submit([encoder.finish()]);
  await back.mapAsync(GPUMapMode.READ);
  const copy = back.getMappedRange().slice(0);
  back.destroy();
  return copy;
}

const roundUp = (value: number, unit: number): number => Math.ceil(value / unit) * unit;
