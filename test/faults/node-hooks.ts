import dns from 'node:dns';
import syncFs from 'node:fs';
import fs from 'node:fs/promises';
import Module, { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';

// Loaded into a process before the program, by tests that need a node to fail of itself, or a host's clock to be wrong.

/** Settings of a process that fails by these rules; for the `env` of its start. */
export interface NodeFaults {
  /**
   * What happens where a file is opened to be computed whose path holds the key: the process is killed, there is that
   * error, or it takes so many milliseconds. What the node shows of it to the coordinator is well.
   */
  open?: Record<string, 'SIGKILL' | `E${string}` | number>;
  /** Packages that are not installed. */
  missing?: string[];
  /** The processes that decode videos break down as they start. */
  decodersBreak?: boolean;
  /** The processes that decode videos stop for ever where they open a file whose path holds this. */
  decodersHang?: string;
  /** They break down there. */
  decodersDie?: string;
  /** Connections to the port that is the key go to another. */
  reroute?: Record<number, number>;
  /** A file of names that end in .test, one a line: only these lead to this machine now. */
  names?: string;
  /** The first so many WebGPU devices that are opened answer so many batches each, and then nothing any more. */
  hang?: { devices: number; afterBatches: number };
  /** The main thread does nothing for so long between two turns, from one SIGUSR2 to the next. */
  blocksMs?: number;
  /** The wall clock is ahead by so much for a second, then behind by as much, and so on. */
  clockJumpsMs?: number;
}

export function withFaults(faults: NodeFaults): Record<string, string> {
  return { NODE_OPTIONS: `--import=${import.meta.url}`, HALOGRID_TEST_FAULTS: JSON.stringify(faults) };
}

const {
  open: rules = {},
  missing = [],
  decodersBreak = false,
  decodersHang,
  decodersDie,
  reroute = {},
  names,
  hang,
  blocksMs = 0,
  clockJumpsMs = 0,
}: NodeFaults = JSON.parse(process.env.HALOGRID_TEST_FAULTS ?? '{}');

if (Object.keys(rules).length > 0) {
  const open = fs.open;
  fs.open = async (path, ...rest) => {
    for (const [part, fault] of Object.entries(rules)) {
      if (!String(path).includes(part) || new Error().stack!.includes('showLocal')) continue;
      if (typeof fault === 'number') {
        await delay(fault);
        continue;
      }
      if (fault === 'SIGKILL') process.kill(process.pid, fault);
      throw Object.assign(new Error(`${fault}: as the test says, open '${path}'`), { code: fault });
    }
    return open(path, ...rest);
  };
  syncBuiltinESMExports();
}

if (missing.length > 0) {
  // It is what every require and require.resolve come to.
  const modules = Module as unknown as { _resolveFilename: (request: string, ...rest: unknown[]) => string };
  const resolve = modules._resolveFilename;
  modules._resolveFilename = (request, ...rest) => {
    if (!missing.some((name) => request.startsWith(name))) return resolve(request, ...rest);
    throw Object.assign(new Error(`Cannot find module '${request}': as the test says`), { code: 'MODULE_NOT_FOUND' });
  };
}

const isDecoder = /\/video-process\.[jt]s$/.test(process.argv[1] ?? '');

if (decodersBreak && isDecoder) process.kill(process.pid, 'SIGSEGV');

if ((decodersHang ?? decodersDie) !== undefined && isDecoder) {
  const open = syncFs.openSync;
  syncFs.openSync = (path, ...rest) => {
    if (decodersHang !== undefined && String(path).includes(decodersHang)) process.kill(process.pid, 'SIGSTOP');
    if (decodersDie !== undefined && String(path).includes(decodersDie)) process.kill(process.pid, 'SIGSEGV');
    return open(path, ...rest);
  };
  syncBuiltinESMExports();
}

if (Object.keys(reroute).length > 0) {
  const connect = Socket.prototype.connect;
  // biome-ignore lint/suspicious/noExplicitAny: its overloads are many.
  Socket.prototype.connect = function (this: Socket, ...args: any[]) {
    // Node's own callers pass one array of the options and a callback. The options are theirs: agents know sockets by
    // them.
    const list = Array.isArray(args[0]) ? args[0] : args;
    const to = reroute[Number(list[0]?.port)];
    if (to) list[0] = { ...list[0], port: to };
    return Reflect.apply(connect, this, args);
  } as typeof connect;
}

if (names !== undefined) {
  const known = names;
  const lookup = dns.lookup;
  // biome-ignore lint/suspicious/noExplicitAny: its overloads are many.
  dns.lookup = ((name: string, options: any, callback: any) => {
    if (!name.endsWith('.test')) return lookup(name, options, callback);
    const isThere = syncFs.readFileSync(known, 'utf8').split('\n').includes(name);
    if (!isThere) callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }));
    else if (options.all) callback(null, [{ address: '127.0.0.1', family: 4 }]);
    else callback(null, '127.0.0.1', 4);
  }) as typeof dns.lookup;
  syncBuiltinESMExports();
}

if (hang) {
  let devices = 0;
  let batches = 0;
  whenDefined('GPUAdapter', ({ prototype }: typeof GPUAdapter) => {
    const { requestDevice } = prototype;
    prototype.requestDevice = function (...options) {
      devices++;
      batches = 0;
      return requestDevice.apply(this, options);
    };
  });
  whenDefined('GPUBuffer', ({ prototype }: typeof GPUBuffer) => {
    const { mapAsync } = prototype;
    prototype.mapAsync = function (...range) {
      // What a batch leaves is mapped once, to be read.
      const isResult = range[0] === GPUMapMode.READ;
      const hangs = isResult && devices <= hang.devices && ++batches > hang.afterBatches;
      return hangs ? new Promise(() => {}) : mapAsync.apply(this, range);
    };
  });
}

/** Calls back with a global once the program defines it. */
function whenDefined<T>(name: string, task: (value: T) => void): void {
  const set = (value: T): void => {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
    task(value);
  };
  Object.defineProperty(globalThis, name, { set, configurable: true });
}

if (blocksMs > 0 && isMainThread) {
  const never = new Int32Array(new SharedArrayBuffer(4));
  let blocking: NodeJS.Timeout | undefined;
  process.on('SIGUSR2', () => {
    clearInterval(blocking);
    blocking = blocking ? undefined : setInterval(() => Atomics.wait(never, 0, 0, blocksMs), 1).unref();
  });
}

if (clockJumpsMs) {
  const RealDate = Date;
  const now = (): number => RealDate.now() + (Math.floor(performance.now() / 1000) % 2 === 0 ? 1 : -1) * clockJumpsMs;
  globalThis.Date = class extends RealDate {
    constructor(...given: unknown[]) {
      super(...((given.length > 0 ? given : [now()]) as [number]));
    }

    static override now(): number {
      return now();
    }
  } as DateConstructor;
}
