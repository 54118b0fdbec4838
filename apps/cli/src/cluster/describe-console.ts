export interface ConsoleFacts {
  /** Where others reach the coordinator's HTTP. */
  host: string;
  port: number;
  isTls: boolean;
  wantsToken: boolean;
  wantsCertificate: boolean;
}

/** The address of the console, for a person who has just started the coordinator. */
export function describeConsole(facts: ConsoleFacts): string {
  const { host, port, isTls, wantsToken, wantsCertificate } = facts;
  const wants = [
    ...(wantsToken ? ["a token with the role 'read' or 'submit'"] : []),
    ...(wantsCertificate ? ['a certificate in the browser that is signed by the authority of --tls-ca'] : []),
  ];
  const hint = wants.length > 0 ? ` (needs ${wants.join(' and ')})` : '';
  return `Console: ${isTls ? 'https' : 'http'}://${host}:${port}/${hint}`;
}
