// How gRPC clients authenticate. Not exported by index.ts, because it loads grpc-js.
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
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
 * The server name that is sent in place of an IP address, because RFC 6066 does not allow addresses there. No server
 * can have this name (RFC 6761).
 */
const nameOfAddresses = 'coordinator.invalid';

/**
 * The credentials of a channel to `address` (HOST:PORT), with the present certificates, and options that add the token
 * to calls. The token is read at each call. `name`: the name that led to an IP address; the certificate must have it.
 */
export function grpcClient(
  address: string,
  { tls, token }: ClientSecurity,
  warn?: Warn,
  name?: string,
): { channel: ChannelCredentials; options: ClientOptions } {
  const options: ClientOptions = { interceptors: [withToken(token)] };
  if (!tls) return { channel: credentials.createInsecure(), options };
  const host = address.slice(0, address.lastIndexOf(':')).replace(/^\[(.*)\]$/, '$1');
  if (!isIP(host)) return { channel: secure(tls.current(warn)), options };
  return {
    channel: secure(tls.current(warn), name ?? host),
    options: { ...options, 'grpc.ssl_target_name_override': name ?? nameOfAddresses },
  };
}

/** `identity`: the name that the certificate must have, in place of the name that the handshake asked for. */
function secure({ ca, cert, key }: Tls, identity?: string): ChannelCredentials {
  const bytes = (pem: string | undefined) => (pem === undefined ? null : Buffer.from(pem));
  const verify = identity === undefined ? {} : { checkServerIdentity: verifierOf(identity) };
  return credentials.createSsl(bytes(ca), bytes(key), bytes(cert), verify);
}

const verifierOf =
  (identity: string): typeof checkServerIdentity =>
  (_asked, certificate) =>
    checkServerIdentity(identity, certificate);

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
