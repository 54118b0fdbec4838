// The wire format of halogrid.v1: messages, services and their clients. The .proto files beside this folder are the
// specification; src/gen is their committed ts-proto output ('npm run proto' writes it).
import { fileURLToPath } from 'node:url';

export { CountsError, countsIn, joinCounts } from './answers/join-counts.ts';
export {
  type FoundAnswer,
  type FoundResult,
  maxAnswerParts,
  maxCountsBytes,
  splitAnswer,
} from './answers/split-answer.ts';
export * from './gen/halogrid/v1/api.ts';
export * from './gen/halogrid/v1/job.ts';
export * from './gen/halogrid/v1/jobs.ts';
/** The name by which the holder of a lease refers to it. The message keeps its older name, HeldLease. */
export type { HeldLease as LeaseName } from './gen/halogrid/v1/nodes.ts';
export * from './gen/halogrid/v1/nodes.ts';
export * from './gen/halogrid/v1/search.ts';
export { hasEnded } from './has-ended.ts';
export {
  hwaccels,
  isPipelineName,
  jobPriorities,
  mapFormats,
  maxBatchFrames,
  maxEvery,
  maxImageBytes,
  maxMessageBytes,
  maxPartCounts,
  maxPartHits,
  maxPartQueries,
  maxPipelines,
  maxSources,
  maxTilePx,
  maxUriLength,
  pipelineNames,
  whyNotVerified,
} from './job-limits.ts';
export type { Excess, FieldBound } from './limits/bounds.ts';
export { decodeBounded, maxParts, orderParts, reportParts, submitParts } from './limits/count-parts.ts';
export {
  changesBounds,
  excessOf,
  jobIdBounds,
  leaseBounds,
  listBounds,
  listFramesBounds,
  maxSentenceLength,
  maxSourceBlockBytes,
  orderBounds,
  reportBounds,
  searchBounds,
  specBounds,
} from './limits/message-bounds.ts';
export {
  decodeNeed,
  needInWords,
  pathIn,
  placeInWords,
  placeOfNeed,
  readNeed,
  writeNeed,
  zonesNeed,
} from './needs.ts';
export {
  commonProtocol,
  type Protocols,
  protocols,
  protocolsInWords,
  protocolVersion,
  sinceProtocol,
} from './protocols.ts';

/** Folder that holds the .proto files, for gRPC server reflection. */
export const protoRoot = fileURLToPath(new URL('..', import.meta.url));
export const protoFiles = ['job', 'jobs', 'nodes', 'search', 'api'].map((name) => `halogrid/v1/${name}.proto`);
