import type { Server } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { protoFiles, protoRoot } from '@halogrid/proto';
import { HealthImplementation } from 'grpc-health-check';

/** Adds the standard services that say what a server serves, and that it does: reflection and health. */
export function addIntrospection(server: Server): void {
  const serving = { '': 'SERVING', 'halogrid.v1.Jobs': 'SERVING', 'halogrid.v1.Nodes': 'SERVING' } as const;
  new HealthImplementation(serving).addToServer(server);
  const definitions = loadSync(protoFiles, { includeDirs: [protoRoot], keepCase: true });
  new ReflectionService(definitions).addToServer(server);
}
