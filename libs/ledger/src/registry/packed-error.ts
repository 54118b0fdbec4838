import { DamagedLedgerError, LostLedgerError, OlderLedgerError } from './ledger-errors.ts';

/** An error in a form that keeps its class when it is sent to another thread. */
export interface PackedError {
  error: Error;
  name: string;
  format?: number;
}

export function packError(error: Error): PackedError {
  return { error, name: error.name, ...(error instanceof OlderLedgerError && { format: error.format }) };
}

const classes = [LostLedgerError, DamagedLedgerError, OlderLedgerError];

/** The error as it was thrown. */
export function unpackError({ error, name, format }: PackedError): Error {
  const its = classes.find((its) => its.name === name);
  if (!its) return error;
  return Object.assign(Object.setPrototypeOf(error, its.prototype), { name, ...(format && { format }) });
}
