export { allowedPath } from './access/allowed-path.ts';
export { checkAllowedPrefix } from './access/allowed-prefix.ts';
export { redactUri } from './access/redact-uri.ts';
export {
  restrictSources,
  type SourceAccess,
  SourceForbiddenError,
  sourceAccess,
  unrestricted,
} from './access/source-access.ts';
export { BucketPrefix, type ListedObject } from './buckets/bucket-prefix.ts';
export { isBucketUri, toPrefixUri } from './buckets/prefix-uri.ts';
export type { Upload, WholeUpload } from './buckets/uploads.ts';
export { giveBackBytes, takeBytes } from './byte-pool.ts';
export { bytesOfVersion, growingVersion, holdsVersion } from './files/growing-file.ts';
export { type InputFile, openInputFile } from './files/input-file.ts';
export { type LocalFile, localVersion } from './files/local-file.ts';
export { openIfThere, readIfThere } from './files/open-if-there.ts';
export { forReading, quickFiles } from './files/quick-files.ts';
export { type ShownFile, showFile, versionOfContent } from './files/show-file.ts';
export {
  type Format,
  type FormatFacts,
  formatOfName,
  formats,
  hasImageExtension,
  hasUnsupportedExtension,
  hasVideoExtension,
  isTarName,
  mostPixels,
  type UnsupportedFormat,
  unsupportedFormatOfName,
  unsupportedFormats,
  usualPixels,
} from './formats.ts';
export { charactersOfBraces } from './globs/expand-braces.ts';
export { type FilterGlobs, selectPaths } from './globs/path-filter.ts';
export type { PassedOver } from './globs/selection.ts';
export { changedInput, InputError, type InputFault } from './input-error.ts';
export { type Mask, Masks } from './listing/masks.ts';
export { compareNatural } from './listing/natural-order.ts';
export type { Source } from './listing/source.ts';
export {
  checkHasSource,
  type LeftOut,
  listAllSources,
  listSources,
  mayHaveVideo,
  SourceNotFoundError,
} from './listing/sources.ts';
export { checkSourceUri, toFileUri, toOutUri, toUri } from './listing/to-uri.ts';
export { isMemberUri, splitMember } from './member-uri.ts';
export { folderHolding, splitPart } from './part-uri.ts';
export { isPlaneUri, type PlaneUri, parsePlaneUri, planeUri } from './plane-uri.ts';
export { type AwayHost, AwayHosts } from './remote/away-hosts.ts';
export { BlockReader } from './remote/block-reader.ts';
export type { ByteRange } from './remote/byte-ranges.ts';
export { withPatience } from './remote/patience.ts';
export { remoteVersion } from './remote/probe.ts';
export { quickToGiveUp } from './remote/quick-to-give-up.ts';
export { readRemoteHead } from './remote/read-head.ts';
export { RemoteFile } from './remote/remote-file.ts';
export { defaultRemoteLimits } from './remote/remote-limits.ts';
export { isRemoteUri } from './remote/remote-uri.ts';
export { TransferError } from './remote/transfer-error.ts';
export { isRowUri, splitRow } from './row-uri.ts';
export { SourceUriError } from './source-errors.ts';
export {
  isOfVersion,
  isStatedVersion,
  maskedVersion,
  ofNamedFile,
  openSlideOf,
  slideVersion,
  tellsContent,
} from './stated-version.ts';
export { type ArrayForm, arrayForm, chunkKey, type ShardForm } from './zarr/array-form.ts';
export { beside } from './zarr/beside.ts';
export { crc32c } from './zarr/crc32c.ts';
export { parseMetadata } from './zarr/read-node.ts';
