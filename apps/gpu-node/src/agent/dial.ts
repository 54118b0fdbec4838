// The only file of the node that knows gRPC.
import { type ClientDuplexStream, type ServiceError, status } from '@grpc/grpc-js';
import { shortened } from '@halogrid/kernels';
import {
  type AttachRequest,
  AttachResponse,
  decodeBounded,
  excessOf,
  maxMessageBytes,
  NodesClient,
  NodesService,
  orderBounds,
  orderParts,
} from '@halogrid/proto';
import { type ClientSecurity, type Warn, whyNoConnection } from '@halogrid/service';
import { grpcClient } from '@halogrid/service/grpc-client';
import { Outgoing, type OutgoingReport } from './outgoing.ts';
import { RememberedReasons } from './remembered-reasons.ts';

export interface Connection {
  send(report: OutgoingReport): void;
  /** Tells the coordinator that no report follows. Reports sent before arrive first. */
  closeStream(): void;
  /** Drops the connection and all reports that were not sent yet. `disconnected` is not called afterwards. */
  hangUp(): void;
}

export interface ConnectionListener {
  ordered(order: AttachResponse): void;
  /** Called once. `isRefusal`: the coordinator will never accept this node. */
  disconnected(reason: string, isRefusal: boolean): void;
}

/** Starts to connect to `address` (HOST:PORT). Reports may be sent at once. */
export type Dial = (address: string, listener: ConnectionListener) => Connection;

const channelOptions = {
  // A dead network is noticed within 30 s even if nothing is sent.
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.max_receive_message_length': maxMessageBytes,
  'grpc.max_send_message_length': maxMessageBytes,
  // The library must not retry a stream, and its backoff must not delay the node's own.
  'grpc.enable_retries': 0,
  'grpc.use_local_subchannel_pool': 1,
};

/** The stream of the conversation. Each order is checked before it is decoded: see `decodeBounded`. */
function attach(client: NodesClient): ClientDuplexStream<AttachRequest, AttachResponse> {
  const { path, requestSerialize } = NodesService.attach;
  return client.makeBidiStreamRequest(path, requestSerialize, (bytes) =>
    decodeBounded(AttachResponse, bytes, orderParts),
  );
}

/** The origin of the coordinator's HTTP server, on the host that was dialled. */
function originOf(address: string, httpPort: number, { tls }: ClientSecurity): string {
  return `${tls ? 'https' : 'http'}://${address.slice(0, address.lastIndexOf(':'))}:${httpPort}`;
}

/** The order; the path at which the files of a lease are handed over becomes a whole URL. */
function withOrigin(response: AttachResponse, origin: string): AttachResponse {
  const { order } = response;
  if (order?.$case !== 'lease' || !order.value.handOver) return response;
  return { ...response, order: { ...order, value: { ...order.value, handOver: origin + order.value.handOver } } };
}

/** The coordinator refuses this node: it has another version, or is not authorised. */
const refusals = new Set([status.FAILED_PRECONDITION, status.UNAUTHENTICATED, status.PERMISSION_DENIED]);

/**
 * Why a call ended. If the coordinator was never heard, looks for the reason, because the library only repeats
 * OpenSSL's words.
 */
async function reasonOf(
  { code, details, message }: ServiceError,
  isHeard: boolean,
  address: string,
  reasons: RememberedReasons,
): Promise<string> {
  if (code === status.UNAVAILABLE && !isHeard) return reasons.reasonOf(address, details);
  if (code === status.UNIMPLEMENTED)
    return `What answers at ${address} is not a coordinator of this version of halogrid`;
  return details || message;
}

/**
 * Makes the function that dials `Nodes.Attach`. Each call reads the token and the certificates again. `nameOf`: the
 * name by which an address was found, if it is not from the options; the certificate there must have that name.
 */
export function createDial(
  security: ClientSecurity,
  warn: Warn,
  nameOf: (address: string) => string | undefined = () => undefined,
): Dial {
  const reasons = new RememberedReasons((address) => whyNoConnection(address, security), Date.now);
  return (address, listener) => {
    const { channel, options } = grpcClient(address, security, warn, nameOf(address));
    const client = new NodesClient(address, channel, { ...channelOptions, ...options });
    const call = attach(client);
    const outgoing = new Outgoing(call);
    let isOver = false;
    let isHeard = false;
    let httpPort = 0;
    const finish = (): boolean => {
      if (isOver) return false;
      isOver = true;
      client.close();
      return true;
    };
    call.on('data', (order: AttachResponse) => {
      isHeard = true;
      reasons.forget(address);
      const excess = excessOf(order, orderBounds);
      if (excess) {
        call.cancel();
        if (finish())
          listener.disconnected(`it ordered too much: expected ${excess.allowed} for ${excess.what}`, false);
        return;
      }
      if (order.order?.$case === 'welcome') httpPort = order.order.value.httpPort;
      if (!isOver) listener.ordered(withOrigin(order, originOf(address, httpPort, security)));
    });
    call.on('end', () => {
      if (finish()) listener.disconnected('the coordinator closed the stream', false);
    });
    call.on('error', (error: ServiceError) => {
      if (!finish()) return;
      void reasonOf(error, isHeard, address, reasons).then((reason) => {
        listener.disconnected(shortened(reason, 1_000), refusals.has(error.code));
      });
    });
    return {
      send: (report) => outgoing.send(report),
      closeStream: () => outgoing.end(),
      hangUp: () => {
        finish();
        call.cancel();
      },
    };
  };
}
