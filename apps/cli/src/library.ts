// The exports of `import … from 'halogrid'`.
export type * from '@halogrid/client';
export { HalogridError, Job, JobError } from '@halogrid/client';
export { type ConnectOptions, connect, type TlsFiles } from './library/connect.ts';
export { run } from './library/run.ts';
export type { RunOptions } from './library/run-options.ts';
