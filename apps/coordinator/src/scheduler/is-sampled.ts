/**
 * Whether the shard belongs to the sample of `percent` of a job that is computed a second time. It depends only on the
 * job and the number, so that it is the same for every coordinator.
 */
export function isSampled(jobId: string, shard: number, percent: number): boolean {
  if (percent <= 0) return false;
  // FNV-1a over the id, then the finaliser of MurmurHash3, which spreads neighbouring numbers over 32 bits.
  let hash = 0x811c9dc5;
  for (let i = 0; i < jobId.length; i++) hash = Math.imul(hash ^ jobId.charCodeAt(i), 0x01000193);
  hash ^= Math.imul(shard + 1, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32 < percent / 100;
}
