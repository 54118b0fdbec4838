// The ledger of a coordinator: which jobs exist, which coordinator leads each, and what has happened to them.
export { InvalidResultError } from './checks/check-answer.ts';
export { LogReader } from './job/log-reader.ts';
export type { WritePart } from './job/logged-job.ts';
export { replayFacts } from './job/replay.ts';
export type {
  AnsweredShards,
  FoundRun,
  JobRecord,
  JobResults,
  JobsElsewhere,
  Ledger,
  LedgerState,
  OpenShards,
  QuarantinedRow,
  SettledRun,
  SettledSources,
  ShardCommit,
  Withdrawn,
} from './ledger/ledger.ts';
export { readRecord } from './ledger/registered-record.ts';
export type { LogHome } from './ledger-jobs.ts';
export { BucketLogs } from './log/bucket-logs.ts';
export { isEnd } from './log/fact.ts';
export { FolderLogs, isLogName } from './log/folder-logs.ts';
export { Journal } from './log/journal.ts';
export type { LogDisk } from './log/log-file.ts';
export { LogLedger } from './log-ledger.ts';
export type { Adopted, JobShares, Member, Question, SharedJob, SharedView } from './registry/job-shares.ts';
export { isLedgerLost, LostLedgerError, logFormat, OlderLedgerError } from './registry/ledger-errors.ts';
export { MemoryRegistry, RegistryMemory } from './registry/memory-registry.ts';
export { registryFormat } from './registry/migrations.ts';
export { openRegistry } from './registry/open-registry.ts';
export { FencedError, type JobChange, type Leader, type Registry } from './registry/registry.ts';
