/** An error on its way from a thread, which would lose what the system calls it. */
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
