import type { Metadata } from '@grpc/grpc-js';
import type { Credentials } from '@halogrid/service';

/** What the caller of gRPC shows of who it is. */
export const grpcCredentials = (metadata: Metadata, from: string): Credentials => ({
  header(name) {
    const [value] = metadata.get(name);
    return typeof value === 'string' ? value : undefined;
  },
  from,
});
