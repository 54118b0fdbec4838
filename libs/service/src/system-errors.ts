/** An error of the system, such as for a file or an address. */
export type SystemError = NodeJS.ErrnoException & { code: string };

export const isSystemError = (error: unknown): error is SystemError =>
  error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';

const whyNoFile: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'the system does not permit it',
  EROFS: 'the file system is read-only',
  ENOENT: 'a folder of that path is missing, or nothing can be made in it',
  ENOTDIR: 'a part of that path is a file',
  EISDIR: 'it is a folder',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of this user is used up',
  ENAMETOOLONG: 'the path is longer than the file system allows',
};

const whyNoPort: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EADDRNOTAVAIL: 'this machine does not have that address',
  EACCES: 'this user may not listen on that port',
  ENOTFOUND: 'that name is not known',
};

/**
 * Why a file or folder cannot be written, as a clause with the code of the system: `this user may not write there
 * (EACCES)`.
 */
export const whyNotWritten = (error: SystemError): string => clause(error, whyNoFile);

/** Why a server cannot listen at an address, as such a clause. */
export const whyNotServed = (error: SystemError): string => clause(error, whyNoPort);

function clause({ code, message }: SystemError, known: Readonly<Record<string, string>>): string {
  const why = Object.hasOwn(known, code) ? known[code] : undefined;
  return why ? `${why} (${code})` : message;
}

/** The alternative to a folder that cannot be written, for commands with --out. */
export const anotherFolder = 'another folder with --out';

/**
 * Calls `act`, which writes to `path`. Turns errors of the system into one sentence that says why the path cannot be
 * written, and what to give instead: `instead`, such as `another folder with --out`.
 */
export async function writing<T>(path: string, instead: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new Error(`'${path}' cannot be written: ${whyNotWritten(error)}; give ${instead}`, { cause: error });
  }
}
