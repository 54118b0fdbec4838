import { createRequire } from 'node:module';
import type { Server, sendUnaryData, UntypedHandleCall } from '@grpc/grpc-js';

type Introspection = typeof import('./introspection.ts');

const require = createRequire(import.meta.url);

/** The methods of the standard services, and how they are called. */
const kinds = {
  '/grpc.health.v1.Health/Check': 'unary',
  '/grpc.health.v1.Health/List': 'unary',
  '/grpc.health.v1.Health/Watch': 'serverStream',
  '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo': 'bidi',
  '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo': 'bidi',
};

/**
 * Adds gRPC's health and reflection services to a server. The first call loads their code: that takes 150 ms of
 * processor time (measured), and few coordinators are ever asked. It is loaded synchronously, because messages are
 * deserialized synchronously.
 */
export function addIntrospection(server: Server): void {
  let methods: ReturnType<Introspection['standardMethods']> | undefined;
  for (const [path, kind] of Object.entries(kinds)) {
    const method = () => {
      methods ??= (require('./introspection.ts') as Introspection).standardMethods();
      return methods.get(path)!;
    };
    const handle = (call: never, callback: sendUnaryData<unknown>) => method().handle(call, callback);
    server.register(
      path,
      handle as UntypedHandleCall,
      (response: object) => method().serialize(response),
      (request) => method().deserialize(request),
      kind,
    );
  }
}
