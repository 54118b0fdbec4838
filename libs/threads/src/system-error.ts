/** An error in the form in which a thread sends it: sent as an Error, it would lose its system code. */
export interface PackedError {
  message: string;
  code: string | undefined;
}

/** For the `pack` of serveOrders. */
export function packSystemError(error: unknown): PackedError {
  const { message, code } = error instanceof Error ? (error as NodeJS.ErrnoException) : { message: String(error) };
  return { message, code };
}

/** For the `unpack` of a ThreadClient. */
export function unpackSystemError({ message, code }: PackedError): Error {
  return Object.assign(new Error(message), code !== undefined && { code });
}
