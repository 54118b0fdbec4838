import type { SourceAccess } from '@halogrid/sources';
import type { AskedFiles } from './asked-files.ts';

/** What a thread is told when it starts. */
export interface BatchThreadSetup {
  access: SourceAccess;
}

/** A batch to be read, into memory that is known by its address. */
export interface BatchOrder<Limits> {
  files: AskedFiles;
  limits: Limits;
  address: bigint;
  /** Bytes of that memory, which may be more than is read. */
  length: number;
}
