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
import type { Audit } from './audit.ts';
import { withAccess } from './call-access.ts';

/** How long clients have to take the ends of their streams; after that they are cut off. */
const closingMs = 500;

const options = {
  'grpc.max_receive_message_length': maxMessageBytes,
  'grpc.max_send_message_length': maxMessageBytes,
  // A peer whose network is gone is noticed within 30 s, even if neither side sends anything.
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 10_000,
  // A node holds one stream, a client a few. A connection without calls is closed, and made again when needed.
  'grpc.max_concurrent_streams': 100,
  'grpc.max_connection_idle_ms': 300_000,
};

/** A state takes one byte on the wire, but millions of states take half a second to decode. */
const mostListBytes = 2 ** 12;

function decodeList(bytes: Buffer): ListRequest {
  if (bytes.length > mostListBytes) throw new RangeError(`Expected at most ${mostListBytes} bytes but received more`);
  return JobsService.list.requestDeserialize(bytes);
}

/** Services whose requests are bounded before they are decoded: see `decodeBounded`. */
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

/** Rejects with one sentence if the address is not free: otherwise a standby would fail only once it leads. */
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
  audit: Audit;
  limits: ConnectionLimits;
  /** A connection that has taken nothing of what was sent to it for this long is closed, and `warn` is called. */
  untakenMs: number;
  warn: (sentence: string) => void;
  /** Serves health and reflection, too. */
  introspection: boolean;
}

/** Serves all services. Rejects with one sentence if the address is not free. */
export async function startGrpc(
  address: ListenAddress,
  services: { jobs: JobsServer; nodes: NodesServer; search: SearchServer },
  { tls, access, audit, limits, untakenMs, warn, introspection }: GrpcOptions,
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
  const server = new Server({
    ...options,
    interceptors: [pace.interceptor, withAccess({ access, audit, spoke, nowMs })],
  });
  server.addService(boundedJobs, services.jobs);
  server.addService(boundedNodes, services.nodes);
  server.addService(SearchService, services.search);
  if (introspection) addIntrospection(server);

  // The listener is not the library's: that one cannot bound connections that never speak HTTP/2.
  let current = tls?.();
  let injector = server.createConnectionInjector(serverCredentials(current));
  const listener = createServer({ noDelay: true }, (socket) => {
    gate.add(socket);
    const now = tls?.();
    // Connections of the injector before stay as they are. An injector takes a few kilobytes, and certificates are
    // replaced every few weeks.
    if (now !== current) injector = server.createConnectionInjector(serverCredentials(now));
    current = now;
    injector.injectConnection(socket);
  });
  const port = await listenOn(listener, address, '--listen');
  return {
    port,
    close: async () => {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      // Also ends connections that the server does not wait for: one was held for 20 s, until it was found idle.
      const cutOff = setTimeout(() => server.forceShutdown(), closingMs);
      await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      pace.close();
      gate.close();
      await closed;
      clearTimeout(cutOff);
    },
  };
}

/** With an authority (`ca`), only clients with a certificate that it signed can connect. */
function serverCredentials(tls: Tls | undefined): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  const pair = { cert_chain: Buffer.from(tls.cert!), private_key: Buffer.from(tls.key!) };
  return ServerCredentials.createSsl(tls.ca ? Buffer.from(tls.ca) : null, [pair], tls.ca !== undefined);
}
