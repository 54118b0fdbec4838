import dns from 'node:dns';
import syncFs from 'node:fs';
import fs from 'node:fs/promises';
import Module, { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';

// Loaded into a process before the program, by tests that need a node with internal failures, or a wrong clock.

/** The failures of a process, which `withFaults` turns into environment variables for its start. */
export interface NodeFaults {
  /**
   * What happens when a file whose path contains the key is opened for computing: the process is killed, opening fails
   * with that error, or it takes that many milliseconds. Probes of the file by the coordinator still succeed.
   */
  open?: Record<string, 'SIGKILL' | `E${string}` | number>;
  /** Packages that seem not to be installed. */
  missing?: string[];
  /** Processes that decode videos crash when they start. */
  decodersBreak?: boolean;
  /** Processes that decode videos hang when they open a file whose path contains this. */
  decodersHang?: string;
  /** Processes that decode videos crash when they open a file whose path contains this. */
  decodersDie?: string;
  /** Connections to a port, the key, go to another port. */
  reroute?: Record<number, number>;
  /** A file with names that end in .test, one per line: only these now resolve, to this machine. */
  names?: string;
  /**
   * The first `devices` WebGPU devices that are opened answer `afterBatches` batches each, and then hang. From SIGUSR2
   * on, every device hangs at once.
   */
  hang?: { devices: number; afterBatches: number };
  /** The main thread blocks for so many milliseconds in each turn, from one SIGUSR2 to the next. */
  blocksMs?: number;
  /** The wall clock is ahead by so many milliseconds for a second, then behind by as many, and so on. */
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
  // Every require and require.resolve calls this function.
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
    // Again and again, because something else may wake it.
    while (decodersHang !== undefined && String(path).includes(decodersHang)) process.kill(process.pid, 'SIGSTOP');
    if (decodersDie !== undefined && String(path).includes(decodersDie)) process.kill(process.pid, 'SIGSEGV');
    return open(path, ...rest);
  };
  syncBuiltinESMExports();
}

if (Object.keys(reroute).length > 0) {
  const connect = Socket.prototype.connect;
  // biome-ignore lint/suspicious/noExplicitAny: its overloads are many.
  Socket.prototype.connect = function (this: Socket, ...args: any[]) {
    // Node's own callers pass one array with the options and a callback. The options must not be changed, because
    // agents use them to identify sockets.
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
  let areAllHung = false;
  if (isMainThread) {
    process.on('SIGUSR2', () => {
      areAllHung = true;
    });
  }
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
      // The results of a batch are mapped once, for reading.
      const isResult = range[0] === GPUMapMode.READ;
      const hangs = areAllHung || (devices <= hang.devices && isResult && ++batches > hang.afterBatches);
      return isResult && hangs ? new Promise(() => {}) : mapAsync.apply(this, range);
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
