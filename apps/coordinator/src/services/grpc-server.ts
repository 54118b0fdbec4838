import { once } from 'node:events';
import { createServer } from 'node:net';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import {
  type JobsServer,
  JobsService,
  maxMessageBytes,
  type NodesServer,
  NodesService,
  protoFiles,
  protoRoot,
} from '@halogrid/proto';
import type { ListenAddress } from '@halogrid/service';
import { HealthImplementation } from 'grpc-health-check';

/** Time that clients have to take the ends of their streams. */
const closingMs = 500;

const options = {
  'grpc.max_receive_message_length': maxMessageBytes,
  'grpc.max_send_message_length': maxMessageBytes,
  // A peer whose network is gone is noticed within 30 s, even if nobody speaks.
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 10_000,
};

export interface GrpcServer {
  port: number;
  close(): Promise<void>;
}

/** Rejects with one sentence when the address cannot be had: a standby needs it only later, and would fail then. */
export async function checkFree({ host, port }: ListenAddress): Promise<void> {
  const server = createServer().listen(port, host.replace(/^\[(.*)\]$/, '$1'));
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new Error(`Cannot listen on ${host}:${port}: ${(error as Error).message}`);
  }
  server.close();
  await once(server, 'close');
}

/** Serves both services with health and reflection. Rejects with one sentence when the address cannot be had. */
export async function startGrpc(
  { host, port }: ListenAddress,
  services: { jobs: JobsServer; nodes: NodesServer },
): Promise<GrpcServer> {
  const server = new Server(options);
  server.addService(JobsService, services.jobs);
  server.addService(NodesService, services.nodes);
  const serving = { '': 'SERVING', 'halogrid.v1.Jobs': 'SERVING', 'halogrid.v1.Nodes': 'SERVING' } as const;
  new HealthImplementation(serving).addToServer(server);
  const definitions = loadSync(protoFiles, { includeDirs: [protoRoot], keepCase: true });
  new ReflectionService(definitions).addToServer(server);

  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${host}:${port}`, ServerCredentials.createInsecure(), (error, boundPort) => {
      if (error) reject(new Error(`Cannot listen on ${host}:${port}: ${error.message}`));
      else resolve(boundPort);
    });
  });
  return { port: bound, close: () => close(server) };
}

/** Lets calls come to their end for a moment, then cuts them off. */
async function close(server: Server): Promise<void> {
  const cutOff = setTimeout(() => server.forceShutdown(), closingMs);
  await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  clearTimeout(cutOff);
}
