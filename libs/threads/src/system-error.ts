/** An error as a thread sends it: sent as an Error, it would lose its system code. */
export interface PackedSystemError {
  message: string;
  code: string | undefined;
}

/** For the `pack` of serveOrders. */
export function packSystemError(error: unknown): PackedSystemError {
  const { message, code } = error instanceof Error ? (error as NodeJS.ErrnoException) : { message: String(error) };
  return { message, code };
}

/** For the `unpack` of a ThreadClient. */
export function unpackSystemError({ message, code }: PackedSystemError): Error {
  return Object.assign(new Error(message), code !== undefined && { code });
}
