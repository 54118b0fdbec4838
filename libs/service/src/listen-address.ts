import { UsageError } from './usage-error.ts';

export interface ListenAddress {
  host: string;
  port: number;
}

const loopback = new Set(['127.0.0.1', 'localhost', '::1', '[::1]']);

/** Parses `HOST:PORT`; port 0 means any free one. Throws UsageError. */
export function parseAddress(option: string, text: string): ListenAddress {
  const match = /^(.+):(\d{1,5})$/.exec(text);
  const port = Number(match?.[2]);
  if (!match || port > 65535) throw new UsageError(`Expected HOST:PORT for ${option} but received '${text}'`);
  return { host: match[1]!, port };
}

/** Whether only this machine can reach the address. */
export function isLoopback(address: ListenAddress): boolean {
  return loopback.has(address.host);
}
