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
  /** Says that no report follows; what was sent arrives first. */
  closeStream(): void;
  /** Drops the connection and whatever was not sent yet; `disconnected` is not called any more. */
  hangUp(): void;
}

export interface ConnectionListener {
  ordered(order: AttachResponse): void;
  /** Called once. `isRefusal` when the coordinator will not have this node, now or later. */
  disconnected(reason: string, isRefusal: boolean): void;
}

/** Starts to connect to `address` (HOST:PORT). Reports may be sent at once. */
export type Dial = (address: string, listener: ConnectionListener) => Connection;

const channelOptions = {
  // A dead network is noticed within 30 s even while nobody speaks.
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.max_receive_message_length': maxMessageBytes,
  'grpc.max_send_message_length': maxMessageBytes,
  // A stream is not retried by the library, and its own backoff must not delay ours.
  'grpc.enable_retries': 0,
  'grpc.use_local_subchannel_pool': 1,
};

/** The conversation, of which each order is looked at before it is decoded: see `decodeBounded`. */
function attach(client: NodesClient): ClientDuplexStream<AttachRequest, AttachResponse> {
  const { path, requestSerialize } = NodesService.attach;
  return client.makeBidiStreamRequest(path, requestSerialize, (bytes) =>
    decodeBounded(AttachResponse, bytes, orderParts),
  );
}

/** The origin of the coordinator's HTTP, which is at the host that was dialled. */
function originOf(address: string, httpPort: number, { tls }: ClientSecurity): string {
  return `${tls ? 'https' : 'http'}://${address.slice(0, address.lastIndexOf(':'))}:${httpPort}`;
}

/** The order, with the whole URL at which the files of a lease are handed over. */
function withOrigin(response: AttachResponse, origin: string): AttachResponse {
  const { order } = response;
  if (order?.$case !== 'lease' || !order.value.handOver) return response;
  return { ...response, order: { ...order, value: { ...order.value, handOver: origin + order.value.handOver } } };
}

/** The coordinator will not have this node: it is of another version, or is not let in. */
const refusals = new Set([status.FAILED_PRECONDITION, status.UNAUTHENTICATED, status.PERMISSION_DENIED]);

/**
 * What ended a call: where nobody was heard, why no connection came about, which the library says in words of OpenSSL.
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

/** Makes what dials `Nodes.Attach`, each time with the token and the certificates as they are then. */
export function createDial(security: ClientSecurity, warn: Warn): Dial {
  const reasons = new RememberedReasons((address) => whyNoConnection(address, security), Date.now);
  return (address, listener) => {
    const { channel, options } = grpcClient(address, security, warn);
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
          listener.disconnected(`it ordered too much: ${excess.what}, of which ${excess.allowed} is expected`, false);
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
