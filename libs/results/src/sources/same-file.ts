/**
 * Whether a source belongs to the same video as the source before: a later frame, or a source without a frame, which
 * comes behind the last frame. Always false if the source before is an image.
 */
export function isSameFile(before: { uri: string; frame?: number }, next: { uri: string; frame?: number }): boolean {
  if (before.uri !== next.uri || before.frame === undefined) return false;
  return next.frame === undefined || next.frame > before.frame;
}
