import type { IncomingMessage } from 'node:http';
import { peerAddress } from './limit-connections.ts';

/** What a caller shows of who it is. */
export interface Credentials {
  /** A header of its request, or metadata of its call; undefined if it has none of that name. */
  header(name: string): string | undefined;
  /** Its address and port, for people. */
  from: string;
}

/** Shows nothing. */
export const nobody: Credentials = { header: () => undefined, from: '' };

export function httpCredentials({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): Credentials {
  const header = (name: string): string | undefined => {
    const value = headers[name.toLowerCase()];
    return typeof value === 'string' ? value : undefined;
  };
  return { header, from: peerAddress(socket) };
}

/** The token of a caller, if it shows one. */
export const bearerOf = ({ header }: Credentials): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(header('authorization') ?? '')?.[1];
