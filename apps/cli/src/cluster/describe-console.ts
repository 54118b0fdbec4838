import { hostname } from 'node:os';

export interface ConsoleFacts {
  /** Where the coordinator's HTTP listens. */
  host: string;
  port: number;
  isTls: boolean;
  wantsToken: boolean;
  wantsCertificate: boolean;
}

/**
 * The address of the console, for a person who has just started the coordinator. `machine` is the name that others use
 * for this machine.
 */
export function describeConsole(facts: ConsoleFacts, machine = hostname()): string {
  const { host, port, isTls, wantsToken, wantsCertificate } = facts;
  // A browser cannot open an address that stands for all addresses of this machine.
  const name = host === '0.0.0.0' || host === '[::]' ? machine : host;
  const wants = [
    ...(wantsToken ? ["a token with the role 'read' or 'submit'"] : []),
    ...(wantsCertificate ? ['a certificate in the browser that is signed by the authority of --tls-ca'] : []),
  ];
  const hint = wants.length > 0 ? ` (needs ${wants.join(' and ')})` : '';
  return `Console: ${isTls ? 'https' : 'http'}://${name}:${port}/${hint}`;
}
