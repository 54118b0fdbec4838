export { type FinishedJob, readFinishedJob } from './build/finished-job.ts';
export { type Indexed, IndexWriter } from './build/index-writer.ts';
export { readFeatures } from './build/read-features.ts';
export { type ChangeEvent, type ChangeKind, changeKinds, type Moment } from './changes/change-event.ts';
export { type CameraChanges, findChanges, type TimeKind } from './changes/find-changes.ts';
export { distances, type Score } from './distances/distance.ts';
export { type DistanceName, distanceNames } from './distances/distance-names.ts';
export { massOf, type Vector } from './distances/vector.ts';
export { type Evaluation, evaluate, type LabelledImage } from './evaluation/evaluate.ts';
export type { RocPoint } from './evaluation/roc.ts';
export { Best } from './ranking/best.ts';
export type { Hit } from './ranking/hit.ts';
export type { Finding } from './ranking/thin-out.ts';
export { narrowCounts, paddedLength } from './scan/count-arrays.ts';
export { GpuClock } from './search/gpu/gpu-clock.ts';
export { GpuScan, type GpuScanOptions } from './search/gpu/gpu-scan.ts';
export type { IndexScan, OpenScan, Wanted } from './search/index-scan.ts';
export { SearchIndex, type SearchRequest } from './search/search-index.ts';
export type { Part } from './search/shared/cut-parts.ts';
export { indexVersion } from './search/shared/index-version.ts';
export { hitsOf, rankingsMessage, wantedMessage, wantedOf } from './search/shared/part-message.ts';
export { type Looked, type PartNode, SharedScan, type SharedScanOptions } from './search/shared/shared-scan.ts';
export { ThreadScan } from './search/thread-scan.ts';
export { TwinScan } from './search/twin-scan.ts';
export type { Catalog, IndexRow } from './store/catalog.ts';
export { checkComputable, checkOneBand } from './store/check-computable.ts';
export { IndexError } from './store/index-error.ts';
export { writeManifest } from './store/index-folder.ts';
export { type Segment, type StoredBlock, segmentName } from './store/manifest.ts';
export { closeCatalog, openCatalog } from './store/open-catalog.ts';
export {
  cellsOfGrid,
  countsOfCell,
  differences,
  identityOf,
  type PipelineIdentity,
  pipelineLine,
  readOf,
  type Unit,
} from './store/pipeline-identity.ts';
export { type BlockPlace, blocksOfIndex, queryVector, readFrame, withoutPadding } from './store/read-block.ts';
export { rowsFile } from './store/row-columns.ts';
export { segmentFrames } from './store/segments-writer.ts';
export { UnknownCamera } from './store/unknown-camera.ts';
