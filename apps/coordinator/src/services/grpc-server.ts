import { once } from 'node:events';
import { createServer } from 'node:net';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import {
  AttachRequest,
  decodeBounded,
  type JobsServer,
  JobsService,
  type ListRequest,
  maxMessageBytes,
  type NodesServer,
  NodesService,
  reportParts,
  type SearchServer,
  SearchService,
  SubmitRequest,
  submitParts,
} from '@halogrid/proto';
import {
  type Access,
  ConnectionGate,
  type ConnectionLimits,
  type ListenAddress,
  listenOn,
  type Tls,
} from '@halogrid/service';
import { paceCalls } from '@halogrid/service/paced-calls';
import { addIntrospection } from './add-introspection.ts';
import { withAccess } from './call-access.ts';

/** Time that clients have to take the ends of their streams; what is left then is cut off. */
const closingMs = 500;

const options = {
  'grpc.max_receive_message_length': maxMessageBytes,
  'grpc.max_send_message_length': maxMessageBytes,
  // A peer whose network is gone is noticed within 30 s, even if nobody speaks.
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 10_000,
  // A node holds one stream, a client some; a connection on which nobody calls is closed, and made again when needed.
  'grpc.max_concurrent_streams': 100,
  'grpc.max_connection_idle_ms': 300_000,
};

/** A state takes one byte on the wire, but millions of states take half a second to decode. */
const mostListBytes = 2 ** 12;

function decodeList(bytes: Buffer): ListRequest {
  if (bytes.length > mostListBytes) throw new RangeError(`Expected at most ${mostListBytes} bytes but received more`);
  return JobsService.list.requestDeserialize(bytes);
}

/** The services, whose requests are looked at before they are decoded: see `decodeBounded`. */
const boundedJobs = {
  ...JobsService,
  submit: {
    ...JobsService.submit,
    requestDeserialize: (bytes: Buffer) => decodeBounded(SubmitRequest, bytes, submitParts),
  },
  list: { ...JobsService.list, requestDeserialize: decodeList },
};
const boundedNodes = {
  ...NodesService,
  attach: {
    ...NodesService.attach,
    requestDeserialize: (bytes: Buffer) => decodeBounded(AttachRequest, bytes, reportParts),
  },
};

export interface GrpcServer {
  port: number;
  close(): Promise<void>;
}

/** Rejects with one sentence when the address cannot be had: a standby needs it only later, and would fail then. */
export async function checkFree(address: ListenAddress): Promise<void> {
  const server = createServer();
  await listenOn(server, address, '--listen');
  server.close();
  await once(server, 'close');
}

export interface GrpcOptions {
  /** Asked at each connection; undefined: without TLS. */
  tls: (() => Tls) | undefined;
  access: Access;
  limits: ConnectionLimits;
  /** A connection that has not taken what was sent to it for so long is closed, and `warn` told so. */
  untakenMs: number;
  warn: (sentence: string) => void;
  /** Serves health and reflection, too. */
  introspection: boolean;
}

/** Serves all services. Rejects with one sentence when the address cannot be had. */
export async function startGrpc(
  address: ListenAddress,
  services: { jobs: JobsServer; nodes: NodesServer; search: SearchServer },
  { tls, access, limits, untakenMs, warn, introspection }: GrpcOptions,
): Promise<GrpcServer> {
  const gate = new ConnectionGate(limits);
  const spoke = (peer: string, isTrusted: boolean) => gate.spoke(peer, isTrusted);
  const nowMs = () => performance.now();
  const pace = paceCalls({
    untakenMs,
    bytesWritten: (peer) => gate.bytesWritten(peer),
    onUntaken: (peer, path) => {
      warn(`The connection of ${peer} is closed: it has not taken what was sent to it by ${path} for ${untakenMs} ms`);
      gate.drop(peer);
    },
    nowMs,
  });
  const server = new Server({ ...options, interceptors: [pace.interceptor, withAccess(access, spoke, nowMs)] });
  server.addService(boundedJobs, services.jobs);
  server.addService(boundedNodes, services.nodes);
  server.addService(SearchService, services.search);
  if (introspection) addIntrospection(server);

  // The listener is ours and not the library's, which has no way to bound connections that never speak HTTP/2.
  let current = tls?.();
  let injector = server.createConnectionInjector(serverCredentials(current));
  const listener = createServer({ noDelay: true }, (socket) => {
    gate.add(socket);
    const now = tls?.();
    // Connections of the one before stay as they are. It costs a few kilobytes, and certificates are replaced every few
    // weeks.
    if (now !== current) injector = server.createConnectionInjector(serverCredentials(now));
    current = now;
    injector.injectConnection(socket);
  });
  const port = await listenOn(listener, address, '--listen');
  return {
    port,
    close: async () => {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      // Also those connections of which the server does not wait for the end: one was held for 20 s, until it was found
      // idle.
      const cutOff = setTimeout(() => server.forceShutdown(), closingMs);
      await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      pace.close();
      gate.close();
      await closed;
      clearTimeout(cutOff);
    },
  };
}

/** With an authority, only connections with a certificate that it signed come about. */
function serverCredentials(tls: Tls | undefined): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  const pair = { cert_chain: Buffer.from(tls.cert!), private_key: Buffer.from(tls.key!) };
  return ServerCredentials.createSsl(tls.ca ? Buffer.from(tls.ca) : null, [pair], tls.ca !== undefined);
}
