/** Values that a label of a node's choosing may have; anything else is 'other', so that series stay few. */
export const stages = new Set(['read', 'decode', 'upload', 'compute', 'readback', 'encode']);
export const stageLabel = (stage: string): string => (stages.has(stage) ? stage : 'other');
