import type { SourceAccess } from '@halogrid/sources';
import type { AskedFiles } from './asked-files.ts';

/** Sent to a thread when it starts. */
export interface BatchThreadSetup {
  access: SourceAccess;
}

/** A batch to be read, into memory given by its address. */
export interface BatchOrder<Limits> {
  files: AskedFiles;
  limits: Limits;
  address: bigint;
  /** Bytes of that memory, which may be more than are read. */
  length: number;
}
