/** A step that makes a registry of one format one of the next. */
interface Migration {
  /** The format that it leads to. */
  to: number;
  /** What it adds. Coordinators of the earlier version may go on meanwhile: a step changes nothing that they know. */
  sqlite: string;
  postgres: (schema: string) => string;
}

/** Registries are made in this format, and then go through all steps. */
export const firstFormat = 6;

/** The steps, in order. A released step is never changed: what is to change again is another step. */
export const migrations: readonly Migration[] = [
  {
    to: 7,
    sqlite: `CREATE TABLE histories (
      job_id TEXT PRIMARY KEY REFERENCES jobs (job_id) ON DELETE CASCADE, history TEXT NOT NULL
    ) STRICT, WITHOUT ROWID`,
    postgres: (schema) => `CREATE TABLE ${schema}.histories (
      job_id text COLLATE "C" PRIMARY KEY REFERENCES ${schema}.jobs (job_id) ON DELETE CASCADE, history text NOT NULL
    )`,
  },
];

/** The format of registries. */
export const registryFormat = migrations.at(-1)!.to;

/** What is added to the format of a registry that several coordinators share. */
export const sharedFormats = 100;

/** The steps that a registry of that format still needs. */
export const migrationsFrom = (format: number): readonly Migration[] => migrations.filter(({ to }) => to > format);
