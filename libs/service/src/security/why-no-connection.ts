import type { ClientSecurity } from './client-security.ts';
import type { Peer } from './judge-greeting.ts';
import { lookAtPeer } from './look-at-peer.ts';

/** Why no gRPC connection to HOST:PORT could be made, in one sentence with a remedy. Never rejects. */
export async function whyNoConnection(address: string, { tls }: ClientSecurity): Promise<string> {
  return describePeer(await lookAtPeer(address, tls?.current()), address);
}

/** Faults that do not pass by waiting: the caller or the coordinator's operator has to correct them. */
const lastingKinds: ReadonlySet<Peer['kind']> = new Set<Peer['kind']>([
  ...([
    'http',
    'plain',
    'tls',
    'untrusted',
    'outdated',
    'misnamed',
    'certificateWanted',
    'certificateRefused',
  ] as const),
]);

/**
 * Whether HOST:PORT is dialled in a way that can never succeed, such as with the wrong certificate authority. Never
 * rejects.
 */
export async function isDialledWrongly(address: string, { tls }: ClientSecurity): Promise<boolean> {
  return lastingKinds.has((await lookAtPeer(address, tls?.current())).kind);
}

/** The sentence for what was found at `address`, HOST:PORT. */
export function describePeer(peer: Peer, address: string): string {
  switch (peer.kind) {
    case 'nobody':
      return describeNobody(peer.reason, address);
    case 'silent':
      return `What is at ${address} accepts connections and says nothing: a coordinator that stands still, or another program`;
    case 'grpc':
      return `What answers at ${address} broke the connection off, and takes another now: try again`;
    case 'http':
      return (
        `What answers at ${address} speaks HTTP, as a coordinator does at its --http, and no gRPC: ` +
        'give --coordinator the address of its --listen (port 7070 unless it was told otherwise)'
      );
    case 'plain':
      return (
        `The coordinator at ${address} speaks no TLS: leave out --tls-ca, --tls-cert and --tls-key, ` +
        'or start it with --tls-cert and --tls-key'
      );
    case 'tls': {
      const own = peer.wantsCertificate ? ', and --tls-cert with --tls-key, because it asks for a certificate' : '';
      return `The coordinator at ${address} speaks TLS alone: give --tls-ca with the authority of its certificate${own}`;
    }
    case 'untrusted':
      return (
        `The certificate of the coordinator at ${address} is not signed by ` +
        (peer.isAuthorityGiven
          ? `the authority of --tls-ca (${peer.reason}): give the --tls-ca of its cluster`
          : `an authority that is known here (${peer.reason}): give --tls-ca with the one of its cluster`)
      );
    case 'outdated':
      return (
        `The certificate of the coordinator at ${address} is not valid now (${peer.reason}): ` +
        'it needs a new one, unless the clock of this machine is wrong'
      );
    case 'misnamed':
      return (
        `The certificate of the coordinator at ${address} is for other names (${peer.names || 'none'}): ` +
        'dial it by one of them, or have a certificate made that names this one in subjectAltName'
      );
    case 'certificateWanted':
      return `The coordinator at ${address} asks for a certificate: give --tls-cert and --tls-key`;
    case 'certificateRefused':
      return (
        `The coordinator at ${address} does not accept the certificate of --tls-cert: ` +
        'the authority of its own --tls-ca must have signed it, and its time must not be over'
      );
    case 'other':
    case 'unclear':
      return (
        `What answers at ${address} is not a coordinator, because it does not speak gRPC: ` +
        'give --coordinator the address of its --listen'
      );
  }
}

function describeNobody(reason: string, address: string): string {
  if (reason === 'ENOTFOUND' || reason === 'EAI_AGAIN') {
    return `No coordinator answers at ${address}: that name of a machine is not known here (${reason})`;
  }
  if (reason === 'ECONNREFUSED') {
    return `No coordinator answers at ${address}: is one running there ('halogrid coordinator')?`;
  }
  return `No coordinator answers at ${address}: it cannot be reached from here (${reason || 'no answer'})`;
}
