/** The protocols that a program speaks, from the oldest to the newest; the first was 1. */
export interface Protocols {
  oldest: number;
  newest: number;
}

/**
 * What this version speaks. A change of the messages that a peer must know of raises `newest`; `oldest` follows one
 * behind, so that nodes and coordinators can be upgraded one after another.
 */
const spoken: Protocols = { oldest: 11, newest: 12 };

/** The protocol from which on a peer knows a message that not every spoken protocol has. */
export const sinceProtocol = { inPart: 12 } as const;

/** What this program speaks. A test may let it speak one protocol only, as an earlier version does. */
export const protocols: Protocols = only(globalThis.process?.env.HALOGRID_TEST_PROTOCOL) ?? spoken;

/** The newest protocol of this program. */
export const protocolVersion = protocols.newest;

function only(text: string | undefined): Protocols | undefined {
  const protocol = Number(text);
  return protocol >= spoken.oldest && protocol <= spoken.newest ? { oldest: protocol, newest: protocol } : undefined;
}

/** The newest protocol that both speak; undefined if there is none. An absent or empty `oldest` is the newest. */
export function commonProtocol(
  { oldest, newest }: { oldest?: number; newest: number },
  own: Protocols = protocols,
): number | undefined {
  const common = Math.min(newest, own.newest);
  return common >= Math.max(oldest || newest, own.oldest) ? common : undefined;
}

/** `11 to 12`, or `12`. */
export const protocolsInWords = ({ oldest, newest }: Protocols): string =>
  oldest === newest ? `${newest}` : `${oldest} to ${newest}`;
