/** The content contradicts what it states. */
export class DamagedError extends Error {}

/** Why a file cannot be read. Errors that hyparquet did not expect describe its own code, not the file. */
export function whyDamaged(error: Error): string {
  const isOfProgram = error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
  return isOfProgram || error.message.includes('undefined') ? 'it is damaged' : error.message;
}
