// How frames come from the card: the driver is made up here, and keeps the order in which it is told to do things.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadKoffi } from '@halogrid/threads/load-koffi';
import { Nvdec, type NvdecSink } from './nvdec.ts';
import { displayInfoBytes, pictureBytes, videoFormatBytes } from './nvdec-structs.ts';
import { calledByDriver, loadNvidiaDriver, type NvidiaDriver } from './nvidia-driver.ts';

/** The stream that waits for the driver's own work. */
const legacyStream = 0n;

/** Says what is done with the pictures, and in which streams. */
function driverOf(done: string[], streams: Set<bigint>): NvidiaDriver {
  const koffi = loadKoffi();
  const called = calledByDriver();
  let parser: Buffer;
  const call = (at: number, type: keyof typeof called, argument: Buffer) =>
    koffi.call(parser.readBigUInt64LE(at), called[type], 0, koffi.address(argument));
  const inStream = (what: string, stream: bigint | number) => {
    streams.add(BigInt(stream));
    done.push(what);
    return 0;
  };
  const give = (out: Buffer) => {
    out.writeBigUInt64LE(4096n);
    return 0;
  };
  const made: Partial<Record<keyof NvidiaDriver, unknown>> = {
    called,
    retainContext: give,
    allocate: give,
    loadModule: give,
    getFunction: give,
    createDecoder: give,
    createParser: (out: Buffer, parameters: Buffer) => {
      parser = parameters;
      return give(out);
    },
    parse: (_parser: bigint, packet: Buffer) => {
      if (packet.readBigUInt64LE(16) === 0n) return 0;
      const format = Buffer.alloc(videoFormatBytes);
      for (const [at, value] of [64, 64].entries()) format.writeUInt32LE(value, 16 + 4 * at);
      for (const [at, value] of [0, 0, 64, 64, 1].entries()) format.writeInt32LE(value, 24 + 4 * at);
      call(48, 'sequence', format);
      call(56, 'decode', Buffer.alloc(pictureBytes));
      call(64, 'display', Buffer.alloc(displayInfoBytes));
      return 0;
    },
    map: (_decoder: bigint, _surface: number, out: Buffer, pitch: Buffer, mapping: Buffer) => {
      give(out);
      pitch.writeUInt32LE(256);
      return inStream('map', mapping.readBigUInt64LE(56));
    },
    launch: (...words: unknown[]) => inStream('expand', words[8] as bigint),
    copyRows: (_copy: Buffer, stream: bigint) => inStream('copy', stream),
    synchronize: (stream: bigint) => inStream('wait', stream),
    unmap: () => {
      done.push('unmap');
      return 0;
    },
  };
  return new Proxy(made, { get: (all, name) => all[name as keyof NvidiaDriver] ?? (() => 0) }) as NvidiaDriver;
}

test('a frame is expanded, copied and waited for in the driver’s order, behind its own work', () => {
  const done: string[] = [];
  const streams = new Set<bigint>();
  const nvdec = new Nvdec(driverOf(done, streams));
  const sink: NvdecSink = {
    sequence: () => true,
    decode: () => {},
    display: () => nvdec.write(new Uint8Array(64 * 64), 64),
  };
  nvdec.decode('h264', sink, (give) => give(Buffer.from([0, 0, 1, 0x65])));
  assert.deepEqual(done, ['map', 'wait', 'expand', 'copy', 'wait', 'unmap']);
  assert.deepEqual([...streams], [legacyStream]);
});

for (const missing of ['libcuda.so.1', 'libnvcuvid.so.1']) {
  test(`a driver without ${missing} is said to lack it`, () => {
    const libc = loadKoffi().load('libc.so.6');
    const load = (name: string | null) => {
      if (name === missing) throw new Error('cannot open shared object file');
      return libc;
    };
    assert.throws(() => loadNvidiaDriver(load), {
      message: `${missing}, which comes with NVIDIA's driver, cannot be loaded`,
    });
  });
}
