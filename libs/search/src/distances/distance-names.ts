export const distanceNames = ['intersection', 'chi2', 'l1', 'hellinger', 'cosine'] as const;
export type DistanceName = (typeof distanceNames)[number];
