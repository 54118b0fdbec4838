import { hostname } from 'node:os';

export interface ConsoleFacts {
  /** Where the coordinator's HTTP listens. */
  host: string;
  port: number;
  isTls: boolean;
  wantsToken: boolean;
  wantsCertificate: boolean;
}

/** Where the coordinator's page is, for a person who has just started it; `machine` is what others call this one. */
export function describeConsole(facts: ConsoleFacts, machine = hostname()): string {
  const { host, port, isTls, wantsToken, wantsCertificate } = facts;
  // Addresses that stand for every one of this machine are none that a browser could ask.
  const name = host === '0.0.0.0' || host === '[::]' ? machine : host;
  const wants = [
    ...(wantsToken ? ["a token with the role 'read' or 'submit'"] : []),
    ...(wantsCertificate ? ['a certificate in the browser that is signed by the authority of --tls-ca'] : []),
  ];
  const hint = wants.length > 0 ? ` (needs ${wants.join(' and ')})` : '';
  return `Console: ${isTls ? 'https' : 'http'}://${name}:${port}/${hint}`;
}
