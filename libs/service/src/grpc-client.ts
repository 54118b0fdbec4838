// How clients of gRPC show who they are. Apart from index.ts, because it loads grpc-js.
import {
  type ChannelCredentials,
  type ClientOptions,
  credentials,
  InterceptingCall,
  type Interceptor,
  status,
} from '@grpc/grpc-js';
import type { ClientSecurity } from './security/client-security.ts';
import type { Tls } from './security/tls-files.ts';
import type { Warn } from './security/watched-files.ts';

/**
 * The credentials of a channel, with the certificates as they are now, and the options with which calls carry the token,
 * which is read at each call.
 */
export function grpcClient(
  { tls, token }: ClientSecurity,
  warn?: Warn,
): { channel: ChannelCredentials; options: ClientOptions } {
  const channel = tls ? secure(tls.current(warn)) : credentials.createInsecure();
  return { channel, options: { interceptors: [withToken(token)] } };
}

function secure({ ca, cert, key }: Tls): ChannelCredentials {
  const bytes = (pem: string | undefined) => (pem === undefined ? null : Buffer.from(pem));
  return credentials.createSsl(bytes(ca), bytes(key), bytes(cert));
}

const withToken =
  (token: () => string | undefined): Interceptor =>
  (options, nextCall) => {
    const call = nextCall(options);
    return new InterceptingCall(call, {
      start(metadata, listener, next) {
        let problem: string | undefined;
        try {
          const now = token();
          if (now) metadata.set('authorization', `Bearer ${now}`);
        } catch (error) {
          problem = (error as Error).message;
        }
        next(metadata, listener);
        if (problem) call.cancelWithStatus(status.UNAUTHENTICATED, problem);
      },
    });
  };
