import { loadKoffi } from '@halogrid/threads/load-koffi';
import { outBytes, readOut } from './nvdec-structs.ts';
import { check, type NvidiaDriver } from './nvidia-driver.ts';
import { expandedLuma } from './video-gray.ts';

/**
 * One thread for each pixel: `to[y * toStride + x] = table[from[y * fromStride + x]]`. It is PTX, which the driver
 * compiles, so that nobody needs CUDA's compiler. A frame of 1080p takes 0.02 ms.
 */
const program = `.version 6.0
.target sm_50
.address_size 64
.visible .entry expand(.param .u64 from, .param .u64 to, .param .u64 table,
  .param .u32 fromStride, .param .u32 toStride, .param .u32 width, .param .u32 height)
{
  .reg .pred %p<3>;
  .reg .b32 %x, %y, %n, %r<6>;
  .reg .b64 %from, %to, %table, %at, %row;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %n, %ntid.x;
  mov.u32 %r1, %tid.x;
  mad.lo.u32 %x, %r0, %n, %r1;
  mov.u32 %y, %ctaid.y;
  ld.param.u32 %r2, [width];
  ld.param.u32 %r3, [height];
  setp.ge.u32 %p0, %x, %r2;
  setp.ge.u32 %p1, %y, %r3;
  or.pred %p0, %p0, %p1;
  @%p0 ret;
  ld.param.u32 %r4, [fromStride];
  ld.param.u64 %from, [from];
  mul.wide.u32 %row, %y, %r4;
  cvt.u64.u32 %at, %x;
  add.u64 %from, %from, %row;
  add.u64 %from, %from, %at;
  ld.global.u8 %r5, [%from];
  ld.param.u64 %table, [table];
  cvt.u64.u32 %row, %r5;
  add.u64 %table, %table, %row;
  ld.global.u8 %r5, [%table];
  ld.param.u32 %r4, [toStride];
  ld.param.u64 %to, [to];
  mul.wide.u32 %row, %y, %r4;
  add.u64 %to, %to, %row;
  add.u64 %to, %to, %at;
  st.global.u8 [%to], %r5;
  ret;
}
\0`;

const threads = 256;

export interface DeviceRows {
  address: bigint;
  stride: number;
}

/** Expands luma of 8 bits and the limited range on the device, as expandedLuma defines it. */
export class ExpandKernel {
  readonly #driver: NvidiaDriver;
  readonly #stream: bigint;
  readonly #function: bigint;
  readonly #table: bigint;
  /** The arguments of the kernel, and their addresses. The driver reads both by address, so they are kept here. */
  readonly #values = Buffer.alloc(40);
  readonly #parameters = BigUint64Array.from(
    [0, 8, 16, 24, 28, 32, 36],
    (offset) => BigInt(loadKoffi().address(this.#values)) + BigInt(offset),
  );

  /** Throws Error if the driver refuses it. */
  constructor(driver: NvidiaDriver, stream: bigint) {
    this.#driver = driver;
    this.#stream = stream;
    const out = Buffer.alloc(outBytes);
    check(driver.loadModule(out, program), 'load a kernel');
    const module = readOut(out);
    check(driver.getFunction(out, module, 'expand'), 'find a kernel');
    this.#function = readOut(out);
    const table = Uint8Array.from(expandedLuma(8));
    check(driver.allocate(out, table.length), 'allocate memory');
    this.#table = readOut(out);
    check(driver.copyIn(this.#table, table, table.length), 'copy a table');
  }

  /** Throws Error. Returns before the kernel has run: wait for the stream. */
  run(from: DeviceRows, to: DeviceRows, { width, height }: { width: number; height: number }): void {
    for (const [i, address] of [from.address, to.address, this.#table].entries())
      this.#values.writeBigUInt64LE(address, 8 * i);
    for (const [i, value] of [from.stride, to.stride, width, height].entries())
      this.#values.writeUInt32LE(value, 24 + 4 * i);
    const grid = Math.ceil(width / threads);
    check(
      this.#driver.launch(this.#function, grid, height, 1, threads, 1, 1, 0, this.#stream, this.#parameters, 0),
      'expand luma',
    );
  }
}
