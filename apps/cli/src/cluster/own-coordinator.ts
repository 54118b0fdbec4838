import { setFlagsFromString } from 'node:v8';
import { type Child, noticeOf, plainLogLine, startChild, whyEnded } from './child.ts';

/** The coordinator of a cluster on this machine, which nobody else can use. */
export interface OwnCoordinator {
  /** Its gRPC address once it serves; rejects with one sentence where it does not start. */
  readonly serving: Promise<string>;
  /** Resolves with why it cannot go on; never where it is stopped before. */
  readonly lost: Promise<Error>;
  stop(): Promise<void>;
}

export interface OwnCoordinatorOptions {
  /** What its callers have to show. */
  token: string;
  /** How long a job waits for a host that is away, as in `coordinator`. */
  sourceGraceMs?: number | undefined;
  /** How long a job waits for room for its results, as in `coordinator`. */
  spaceGraceMs?: number | undefined;
  /** Told what is for whoever waits for the job, in lines for people. */
  note: (line: string) => void;
  /** Told what it writes into its log, in lines for people. */
  log?: ((line: string) => void) | undefined;
}

export type StartOwnCoordinator = (options: OwnCoordinatorOptions) => OwnCoordinator;

const anyPort = '127.0.0.1:0';

/** It is asked to end in order, and not waited for longer than this. */
const patienceMs = 3_000;

/**
 * After so long, memory counts for more than the start. This is one of the flags that `halogrid coordinator` has from
 * its start (nodeFlags); what is loaded later is compiled without the cache.
 */
const sparesMemoryAfterMs = 10_000;
const spareMemory = (): void => setFlagsFromString('--heap-growing-percent=100');

/**
 * In this process, as `run` has it: a process of its own would start Node and load gRPC a second time, a sixth of the
 * processor time of a job on a small image (measured).
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
    return startCoordinator(config, createLog('coordinator', 'info', lines), stopped.signal);
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
      // What went wrong at the end changes nothing of what was said of the job.
      await Promise.race([running?.close().catch(() => {}), promise]);
      clearTimeout(impatience);
    },
  };
};

/** In a process of its own, which a program that does something else beside it neither delays nor ends. */
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

/** How a process has the token: others on this machine read its command line, and not its environment. */
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
