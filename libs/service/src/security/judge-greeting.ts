import type { Tls } from './tls-files.ts';

/** What came back when a server was greeted as a gRPC client does. */
export interface Greeting {
  isConnected: boolean;
  /** The TLS handshake is over. */
  isSecured: boolean;
  /** Why its certificate is not accepted, as Node names the reason, and the names that the certificate is for. */
  mistrust?: string | undefined;
  names?: string;
  /** Its first bytes. */
  bytes?: Buffer;
  /** It closed the connection. */
  isEnded?: boolean;
  /** Code of the error that ended the connection. */
  error?: string;
}

/** What is at an address to which no gRPC connection could be made. */
export type Peer =
  /** No connection at all; `reason` is the code of the system's error, or empty after a timeout. */
  | { kind: 'nobody'; reason: string }
  /** It accepts connections but sends nothing. */
  | { kind: 'silent' }
  /** It answers the greeting in HTTP/2. */
  | { kind: 'grpc' }
  | { kind: 'http' }
  /** HTTP/2 without TLS, although TLS was asked for. */
  | { kind: 'plain' }
  /** TLS, although none was asked for; and whether it asks for a certificate. */
  | { kind: 'tls'; wantsCertificate: boolean }
  | { kind: 'untrusted'; reason: string; isAuthorityGiven: boolean }
  | { kind: 'outdated'; reason: string }
  | { kind: 'misnamed'; names: string }
  | { kind: 'certificateWanted' }
  | { kind: 'certificateRefused' }
  /** Neither gRPC nor HTTP. */
  | { kind: 'other' }
  /** Its answer is not understood with this kind of greeting (with or without TLS); the other kind may work. */
  | { kind: 'unclear' };

/** Judges a greeting. `tls` is as in the greeting: undefined if it was without TLS. */
export function judgeGreeting(heard: Greeting, tls: Tls | undefined): Peer {
  const { error = '', mistrust, bytes } = heard;
  if (!heard.isConnected) return { kind: 'nobody', reason: error };
  if (error.endsWith('NO_APPLICATION_PROTOCOL')) return { kind: 'http' };
  // TLS 1.2 has no separate alert for a missing client certificate.
  const refusesClient = /ALERT_(CERTIFICATE|BAD_CERTIFICATE|UNKNOWN_CA|HANDSHAKE_FAILURE|UNSUPPORTED_CERT)/.test(error);
  const isCut = heard.isSecured && !bytes && (heard.isEnded || error !== '');
  if (mistrust !== undefined && tls) return judgeMistrust(mistrust, heard, tls);
  if (refusesClient || isCut) return { kind: tls?.cert ? 'certificateRefused' : 'certificateWanted' };
  if (bytes) return judgeBytes(bytes);
  if (heard.isEnded || error !== '') return { kind: 'unclear' };
  return { kind: 'silent' };
}

/** The peer for a caller that asked for TLS (`isTls`) or not, given what the other kind of greeting found. */
export function peerOfOtherWay(peer: Peer, isTls: boolean): Peer {
  if (peer.kind === 'http') return peer;
  if (isTls) return { kind: peer.kind === 'grpc' ? 'plain' : 'other' };
  const wantsCertificate = peer.kind === 'certificateWanted';
  return peer.kind === 'grpc' || wantsCertificate ? { kind: 'tls', wantsCertificate } : { kind: 'other' };
}

function judgeMistrust(reason: string, { names = '' }: Greeting, { ca }: Tls): Peer {
  if (reason === 'ERR_TLS_CERT_ALTNAME_INVALID') return { kind: 'misnamed', names };
  if (reason === 'CERT_HAS_EXPIRED' || reason === 'CERT_NOT_YET_VALID') return { kind: 'outdated', reason };
  return { kind: 'untrusted', reason, isAuthorityGiven: ca !== undefined };
}

/** HTTP/2 begins with a SETTINGS frame (type 4) of stream 0; HTTP/1 begins with the text "HTTP/". */
function judgeBytes(bytes: Buffer): Peer {
  if (bytes.length >= 9 && bytes[3] === 4 && bytes.readUInt32BE(5) === 0) return { kind: 'grpc' };
  if (bytes.toString('latin1', 0, 5) === 'HTTP/') return { kind: 'http' };
  // A TLS alert: type 21, version 3.
  return { kind: bytes[0] === 0x15 && bytes[1] === 3 ? 'unclear' : 'other' };
}
