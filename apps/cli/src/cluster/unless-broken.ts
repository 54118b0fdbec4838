import { setTimeout as delay } from 'node:timers/promises';
import type { GrpcTransport } from '../client/coordinator-client.ts';

/** A lost connection is noticed before the end of the process that it led to, by less than this. */
const explainWithinMs = 1_000;

/** Calls of the coordinator of a cluster, which reject with why it is broken, where it turns out to be. */
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
        // This is not awaited: the coordinator that it waits for may be gone.
        void stream.return(undefined);
      }
    },
  };
}
