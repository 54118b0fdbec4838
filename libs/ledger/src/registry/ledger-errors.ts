/**
 * The ledger was changed by something else, or is no longer at its place. It must not be read or written, so the
 * process can only end. Jobs and their folders stay as they are, for a process that has the ledger back.
 */
export class LostLedgerError extends Error {
  override name = 'LostLedgerError';
}

/** The ledger has changed since it was written: `message` says where, in a clause. */
export class DamagedLedgerError extends LostLedgerError {
  override name = 'DamagedLedgerError';

  constructor(message: string) {
    super(`The ledger is damaged: ${message}`);
  }
}

/** The ledger was written by an older version, and only that can read it. */
export class OlderLedgerError extends Error {
  override name = 'OlderLedgerError';
  readonly format: number;

  /** `ledger` names it for people, `format` is its format, `known` the format of this version. */
  constructor(ledger: string, format: number, known: number) {
    super(
      `${ledger} was written by an older version (format ${format}, this is ${known}): ` +
        'finish its jobs with that version, then remove it',
    );
    this.format = format;
  }
}

/** Coordinators of another version use the same ledger: the process can only end. */
export class OtherVersionError extends LostLedgerError {
  override name = 'OtherVersionError';
}

/** Format of logs; it rises when the format changes. The format of registries is in migrations.ts. */
export const logFormat = 6;

/** Whether an error is, or was caused by, a lost ledger. */
export function isLedgerLost(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof LostLedgerError) return true;
  }
  return false;
}
