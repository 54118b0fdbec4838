import { setTimeout as delay } from 'node:timers/promises';
import type { GrpcTransport } from '../client/coordinator-client.ts';

/** A lost connection is noticed at most this long before the end of the process that caused it. */
const explainWithinMs = 1_000;

/**
 * The calls of a cluster's coordinator. If a call fails and the cluster turns out to be broken, it rejects with the
 * reason for that.
 */
export function unlessBroken(transport: GrpcTransport, broken: Promise<never>): GrpcTransport {
  const work = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await Promise.race([answer, broken]);
    } catch (error) {
      await Promise.race([broken, delay(explainWithinMs)]);
      throw error;
    }
  };
  return {
    ...transport,
    submit: (request) => work(transport.submit(request)),
    get: (id) => work(transport.get(id)),
    jobs: (request) => work(transport.jobs(request)),
    cancel: (id) => work(transport.cancel(id)),
    trace: (id) => work(transport.trace(id)),
    nodes: () => work(transport.nodes()),
    async *watch(id) {
      const stream = transport.watch(id);
      try {
        for (;;) {
          const { done, value } = await work(stream.next());
          if (done) return;
          yield value;
        }
      } finally {
        // Not awaited: it would wait for a coordinator that may be gone.
        void stream.return(undefined);
      }
    },
  };
}
