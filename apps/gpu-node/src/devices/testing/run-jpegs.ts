import {
  type JpegBatchLayout,
  type JpegDecoder,
  type JpegFile,
  type JpegFrame,
  JpegScratch,
  layOutJpegs,
} from '@halogrid/jpeg';
import { createPipeline, type PipelineItem, placeItem, planPipeline } from '@halogrid/kernels';

/** A JPEG that devices may decode. */
export interface TestJpeg {
  name: string;
  jpeg: Uint8Array;
  frame: JpegFrame;
}

/** The result of a batch on a device. */
export interface DecodedJpegs {
  files: readonly Required<JpegFile>[];
  /** For each file, the plane that a kernel would read. */
  items: readonly PipelineItem[];
  layout: JpegBatchLayout;
  /** The status of each file. */
  statuses: readonly number[];
  planes: Uint8Array;
  /** The content of the buffers between passes. */
  scratch: Readonly<Record<keyof JpegBatchLayout['scratch'], Uint32Array>>;
}

/** The kernel that planes are placed for; for whole images all kernels place them alike. */
export const lbp = createPipeline([{ kernel: 'lbp', parameters: {} }]);

/** Bytes between files, so that they begin anywhere in a word. */
const gap = 3;

/** Decodes a batch of JPEGs to planes placed as kernels read them. `behind` is recorded after it in the same pass. */
export async function runJpegs(
  device: GPUDevice,
  decoder: JpegDecoder,
  jpegs: readonly TestJpeg[],
  behind: (pass: GPUComputePassEncoder, planes: GPUBuffer, items: readonly PipelineItem[]) => void = () => {},
): Promise<DecodedJpegs> {
  const files: Required<JpegFile>[] = [];
  const items: PipelineItem[] = [];
  let offset = 0;
  let planesBytes = 0;
  for (const { jpeg, frame } of jpegs) {
    const { width, height } = frame;
    const plan = planPipeline(lbp, { x: 0, y: 0, width, height }, { width, height });
    const { item, end } = placeItem(plan, 1, planesBytes);
    files.push({ frame, offset, bytes: jpeg.length, plane: item });
    items.push(item);
    offset += jpeg.length + gap;
    planesBytes = end;
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
  behind(pass, planes, items);
  pass.end();
  device.queue.submit([encoder.finish()]);
  const read = async (name: keyof JpegBatchLayout['scratch']) =>
    [name, new Uint32Array(await readBack(device, buffers[name], layout.scratch[name]))] as const;
  const names = Object.keys(layout.scratch) as (keyof JpegBatchLayout['scratch'])[];
  const left = Object.fromEntries(await Promise.all(names.map(read))) as DecodedJpegs['scratch'];
  const pixels = new Uint8Array(await readBack(device, planes, planesBytes));
  scratch.destroy();
  for (const buffer of [bytes, planes]) buffer.destroy();
  return { files, items, layout, statuses: files.map((_, i) => left.found[2 * i]!), planes: pixels, scratch: left };
}

export async function readBack(device: GPUDevice, buffer: GPUBuffer, size: number): Promise<ArrayBuffer> {
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
