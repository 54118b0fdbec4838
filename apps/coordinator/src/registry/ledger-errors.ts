/**
 * The ledger is not what was written to it, or not where it was. Nothing may be made of it, and nothing follows from what is
 * written to it: the process can only end. Its jobs and their folders stay as they are, for a process that has it back.
 */
export class LostLedgerError extends Error {
  override name = 'LostLedgerError';
}

/** What the ledger holds is not what was written: `message` says where, in a clause. */
export class DamagedLedgerError extends LostLedgerError {
  override name = 'DamagedLedgerError';

  constructor(message: string) {
    super(`The ledger is damaged: ${message}`);
  }
}

/** The ledger was written by an older version of the software, which knows what it means. */
export class OlderLedgerError extends Error {
  override name = 'OlderLedgerError';
  readonly format: number;

  /** `ledger` names it for people, `format` is its own, `known` that of this version. */
  constructor(ledger: string, format: number, known = registryFormat) {
    super(
      `${ledger} was written by an older version (format ${format}, this is ${known}): ` +
        'finish its jobs with that version, then remove it',
    );
    this.format = format;
  }
}

/** Coordinators of another version lead by the same ledger: the process can only end. */
export class OtherVersionError extends LostLedgerError {
  override name = 'OtherVersionError';
}

/** Rises with how registries keep jobs, and with what logs say. */
export const registryFormat = 6;

/** The same of a registry that several coordinators share. */
export const sharedRegistryFormat = 100 + registryFormat;

/** Whether an error is that the ledger is lost, or came of that. */
export function isLedgerLost(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof LostLedgerError) return true;
  }
  return false;
}
