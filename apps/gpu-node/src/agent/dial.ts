// The only file of the node that knows gRPC.
import { credentials, type ServiceError, status } from '@grpc/grpc-js';
import { type AttachRequest, type AttachResponse, maxMessageBytes, NodesClient } from '@halogrid/proto';

export interface Connection {
  send(report: NonNullable<AttachRequest['report']>): void;
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

/** Dials `Nodes.Attach` without TLS. */
export const dialCoordinator: Dial = (address, listener) => {
  const client = new NodesClient(address, credentials.createInsecure(), channelOptions);
  const call = client.attach();
  let isOver = false;
  const finish = (): boolean => {
    if (isOver) return false;
    isOver = true;
    client.close();
    return true;
  };
  call.on('data', (order: AttachResponse) => {
    if (!isOver) listener.ordered(order);
  });
  call.on('end', () => {
    if (finish()) listener.disconnected('the coordinator closed the stream', false);
  });
  call.on('error', (error: ServiceError) => {
    if (finish()) listener.disconnected(error.details || error.message, error.code === status.FAILED_PRECONDITION);
  });
  return {
    send: (report) => void call.write({ report }),
    closeStream: () => call.end(),
    hangUp: () => {
      finish();
      call.cancel();
    },
  };
};
