import type { SchemaElement } from 'hyparquet';

/** A column: the names from below the schema's root down to its values, and the type of the values. */
export interface ColumnLeaf {
  path: string[];
  type: NonNullable<SchemaElement['type']>;
}

/** The columns of a schema in order. */
export function columnLeaves(schema: SchemaElement[]): ColumnLeaf[] {
  const leaves: ColumnLeaf[] = [];
  const rest = schema.slice(1).values();
  const walk = (children: number, above: string[]): void => {
    for (let i = 0; i < children; i++) {
      const { name, type, num_children } = rest.next().value!;
      if (type) leaves.push({ path: [...above, name], type });
      else walk(num_children!, [...above, name]);
    }
  };
  walk(schema[0]!.num_children!, []);
  return leaves;
}
