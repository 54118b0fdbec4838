import { setFlagsFromString } from 'node:v8';
import { type Child, noticeOf, plainLogLine, startChild, whyEnded } from './child.ts';

/** The coordinator of a cluster on this machine, which only this process can use. */
export interface OwnCoordinator {
  /** Its gRPC address once it serves. Rejects with one sentence if it does not start. */
  readonly serving: Promise<string>;
  /** Resolves with the reason why it cannot go on; never if it is stopped before. */
  readonly lost: Promise<Error>;
  stop(): Promise<void>;
}

export interface OwnCoordinatorOptions {
  /** The token that callers must send. */
  token: string;
  /** How long a job waits for an unavailable host, as in `coordinator`. */
  sourceGraceMs?: number | undefined;
  /** How long a job waits for room for its results, as in `coordinator`. */
  spaceGraceMs?: number | undefined;
  /** Called with notices for the person who waits for the job, in lines for people. */
  note: (line: string) => void;
  /** Called with its log, in lines for people. */
  log?: ((line: string) => void) | undefined;
}

export type StartOwnCoordinator = (options: OwnCoordinatorOptions) => OwnCoordinator;

const anyPort = '127.0.0.1:0';

/** How long to wait for it to end in order. */
const patienceMs = 3_000;

/**
 * After this long, memory matters more than a fast start. The flag is one that `halogrid coordinator` has from its
 * start (see nodeFlags). Here it is set late, because code that is loaded after it is compiled without the cache.
 */
const sparesMemoryAfterMs = 10_000;
const spareMemory = (): void => setFlagsFromString('--heap-growing-percent=100');

/**
 * Starts the coordinator in this process, for `run`. Another process would start Node and load gRPC a second time: a
 * sixth of the processor time of a job on a small image (measured).
 */
export const coordinatorHere: StartOwnCoordinator = ({ token, sourceGraceMs, spaceGraceMs, ...voice }) => {
  const stopped = new AbortController();
  const starting = (async () => {
    const [{ createCoordinatorConfig, startCoordinator }, { createLog }] = await Promise.all([
      import('@halogrid/coordinator'),
      import('@halogrid/service/log'),
    ]);
    const given = { sourceGraceMs, spaceGraceMs, security: { ownToken: true } };
    const config = createCoordinatorConfig(
      { listen: anyPort, http: anyPort, ledgerInOutput: true, ...given },
      { HALOGRID_TOKEN: token },
    );
    const lines = { write: (line: string) => tell(line.trimEnd(), voice) };
    return startCoordinator(config, createLog('coordinator', 'info', { lines }), stopped.signal);
  })();
  const sparing = setTimeout(spareMemory, sparesMemoryAfterMs).unref();
  const lost = Promise.withResolvers<Error>();
  void starting.then(async (running) => running && lost.resolve(new Error(await running.lost))).catch(() => {});
  return {
    serving: starting.then((running) => `127.0.0.1:${running!.grpcPort}`),
    lost: lost.promise,
    async stop() {
      clearTimeout(sparing);
      stopped.abort();
      const running = await starting.catch(() => undefined);
      const { promise, resolve } = Promise.withResolvers<void>();
      const impatience = setTimeout(resolve, patienceMs);
      // An error here does not change what was reported about the job.
      await Promise.race([running?.close().catch(() => {}), promise]);
      clearTimeout(impatience);
    },
  };
};

/** Starts the coordinator in a process of its own, so that other work of this program neither delays nor ends it. */
export const coordinatorProcess: StartOwnCoordinator = ({ token, sourceGraceMs, spaceGraceMs, ...voice }) => {
  const where = ['--listen', anyPort, '--http', anyPort, '--own-token', '--ledger-in-output'];
  const graces = [...grace('--source-grace', sourceGraceMs), ...grace('--space-grace', spaceGraceMs)];
  const child: Child = startChild(['coordinator', ...where, ...graces], {
    env: tokenSettings(token),
    onLog: (line) => tell(line, voice),
  });
  let isStopping = false;
  const why = child.ended.then(() => whyEnded('The coordinator', child));
  return {
    serving: child.ready.then(async (served) => {
      if (!served) throw await why;
      return `127.0.0.1:${served.grpc}`;
    }),
    lost: new Promise((resolve) => {
      void why.then((error) => isStopping || resolve(error));
    }),
    stop() {
      isStopping = true;
      return child.stop();
    },
  };
};

/** The token as environment variables: other users of this machine can read command lines, but not environments. */
export const tokenSettings = (token: string): Record<string, string> => ({
  HALOGRID_TOKEN: token,
  HALOGRID_TOKEN_FILE: '',
});

function tell(line: string, { note, log }: Pick<OwnCoordinatorOptions, 'note' | 'log'>): void {
  if (log) log(`coordinator: ${plainLogLine(line)}`);
  const notice = log ? undefined : noticeOf(line);
  if (notice) note(notice);
}

const grace = (option: string, ms: number | undefined): string[] => (ms === undefined ? [] : [option, `${ms / 1000}s`]);
