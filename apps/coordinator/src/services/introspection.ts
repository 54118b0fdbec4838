import {
  type MethodDefinition,
  type ServiceDefinition,
  status,
  type UntypedHandleCall,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { shortened } from '@halogrid/kernels';
import { protoFiles, protoRoot } from '@halogrid/proto';
import { service } from 'grpc-health-check';

const services = new Set(['', 'halogrid.v1.Jobs', 'halogrid.v1.Nodes', 'halogrid.v1.Search']);
const serving = { status: 'SERVING' };

/**
 * The health service: the state of the services never changes while they are served. The library's own keeps every name
 * that was ever watched, and anyone may call it.
 */
const health: UntypedServiceImplementation = {
  check: (call: { request: { service: string } }, callback: (error: object | null, value?: object) => void) => {
    const name = call.request.service;
    if (services.has(name)) callback(null, serving);
    else callback({ code: status.NOT_FOUND, details: `There is no service '${shortened(name)}' here` });
  },
  // biome-ignore lint/suspicious/noExplicitAny: this service has no types
  watch: (call: any) => call.write(services.has(call.request.service) ? serving : { status: 'SERVICE_UNKNOWN' }),
  list: (_call: unknown, callback: (error: null, value: object) => void) =>
    callback(null, { statuses: Object.fromEntries([...services].map((name) => [name, serving])) }),
};

/** A method of a service: its handler, and how its messages are read and written. */
export interface StandardMethod {
  handle: UntypedHandleCall;
  kind: 'unary' | 'serverStream' | 'clientStream' | 'bidi';
  serialize(response: object): Buffer;
  deserialize(request: Buffer): object;
}

/** The methods of gRPC's standard health and reflection services, by path. */
export function standardMethods(): Map<string, StandardMethod> {
  const methods = new Map<string, StandardMethod>();
  const addService = (definition: ServiceDefinition, implementation: UntypedServiceImplementation): void => {
    for (const [name, method] of Object.entries(definition)) {
      const handle = (implementation[name] ?? implementation[method.originalName!])!;
      const { responseSerialize: serialize, requestDeserialize: deserialize } = method;
      methods.set(method.path, { handle, kind: kindOf(method), serialize, deserialize });
    }
  };
  addService(service, health);
  const definitions = loadSync(protoFiles, { includeDirs: [protoRoot], keepCase: true });
  new ReflectionService(definitions).addToServer({ addService });
  return methods;
}

function kindOf({ requestStream, responseStream }: MethodDefinition<object, object>): StandardMethod['kind'] {
  if (requestStream) return responseStream ? 'bidi' : 'clientStream';
  return responseStream ? 'serverStream' : 'unary';
}
