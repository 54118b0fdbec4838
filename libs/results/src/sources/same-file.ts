/** Whether a source is of the file that the source before is of: of a video, its next frame, or what comes behind the last. */
export function isSameFile(before: { uri: string; frame?: number }, next: { uri: string; frame?: number }): boolean {
  if (before.uri !== next.uri || before.frame === undefined) return false;
  return next.frame === undefined || next.frame > before.frame;
}
