import type { CellShape } from './compare-cells.ts';

/** Groups cells that touch each other, by sides or corners; ascending in each. */
export function groupsOf(cells: readonly number[], shape: Pick<CellShape, 'columns'>): number[][] {
  const left = new Set(cells);
  const groups: number[][] = [];
  for (const cell of cells) {
    if (!left.delete(cell)) continue;
    const group = [cell];
    // The group grows during this loop.
    for (const one of group) {
      for (const other of left) {
        if (!touch(one, other, shape)) continue;
        left.delete(other);
        group.push(other);
      }
    }
    groups.push(group.sort((a, b) => a - b));
  }
  return groups;
}

export function touch(one: number, other: number, { columns }: Pick<CellShape, 'columns'>): boolean {
  const rows = Math.abs(Math.floor(one / columns) - Math.floor(other / columns));
  return rows <= 1 && Math.abs((one % columns) - (other % columns)) <= 1;
}
