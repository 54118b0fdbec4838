/**
 * The name of a caller as an identity provider or a proxy states it: 1 to 200 visible characters without blanks,
 * because it is in logs and in lines of files. Undefined if it is something else.
 */
export const callerName = (stated: unknown): string | undefined =>
  typeof stated === 'string' && /^[^\s\p{C}]{1,200}$/u.test(stated) ? stated : undefined;
