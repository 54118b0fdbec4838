import { setTimeout as delay } from 'node:timers/promises';
import { connectivityState } from '@grpc/grpc-js';
import { JobsClient, NodesClient } from '@halogrid/proto';
import type { ClientSecurity } from '@halogrid/service';
import { grpcClient } from '@halogrid/service/grpc-client';

/** A coordinator that serves. If several share a ledger file, only the leader serves. */
export interface ServingCoordinator {
  address: string;
  jobs: JobsClient;
  nodes: NodesClient;
  close(): void;
}

export interface LeaderPatience {
  withinMs: number;
  /** Whether an address without an answer is asked again. */
  isAskedAgain: boolean;
}

/** After this long without a leader, `isHopeless` is asked. */
const hopeForMs = 500;

/**
 * A closed channel does not tell a caller that watches it, and the deadline of that watch would keep the process alive.
 */
const lookEveryMs = 250;

const channelOptions = {
  // A stopped coordinator is noticed within 10 s. Silence about a job does not mean that it has stopped.
  'grpc.keepalive_time_ms': 5_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 500,
};

/**
 * Connects to all addresses at once and resolves with the first that serves; with undefined if none does. It relies on
 * the connection and not on a call, because a call whose answer is lost may have had its effect. `isHopeless` is asked
 * once, if nothing serves soon, and can end the wait.
 */
export async function findLeader(
  addresses: readonly string[],
  security: ClientSecurity,
  patience: LeaderPatience,
  isHopeless: () => Promise<boolean>,
): Promise<ServingCoordinator | undefined> {
  const over = new AbortController();
  const candidates = addresses.map((address) => connect(address, security));
  const closeAll = (): void => {
    for (const candidate of candidates) candidate.close();
  };
  delay(hopeForMs, undefined, { signal: over.signal })
    .then(isHopeless)
    .then((hopeless) => hopeless && !over.signal.aborted && closeAll())
    .catch(() => {});
  const leader = await Promise.any(candidates.map((candidate) => untilReady(candidate, patience))).catch(
    () => undefined,
  );
  over.abort();
  for (const candidate of candidates) if (candidate !== leader) candidate.close();
  return leader;
}

function connect(address: string, security: ClientSecurity): ServingCoordinator {
  const { channel, options } = grpcClient(address, security);
  const jobs = new JobsClient(address, channel, { ...channelOptions, ...options });
  const nodes = new NodesClient(address, channel, { ...options, channelOverride: jobs.getChannel() });
  return { address, jobs, nodes, close: () => jobs.close() };
}

/** Resolves when the connection is ready; rejects if it does not become ready in time, or is closed. */
async function untilReady(
  connection: ServingCoordinator,
  { withinMs, isAskedAgain }: LeaderPatience,
): Promise<ServingCoordinator> {
  const channel = connection.jobs.getChannel();
  const deadline = Date.now() + withinMs;
  for (;;) {
    const state = channel.getConnectivityState(true);
    if (state === connectivityState.READY) return connection;
    if (state === connectivityState.TRANSIENT_FAILURE && !isAskedAgain) throw new Error('Nobody answers');
    if (state === connectivityState.SHUTDOWN || Date.now() >= deadline) throw new Error('Nobody answered in time');
    const lookAgain = Math.min(deadline, Date.now() + lookEveryMs);
    await new Promise<void>((resolve) => channel.watchConnectivityState(state, lookAgain, () => resolve()));
  }
}
