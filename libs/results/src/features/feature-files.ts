import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../files/atomic-file.ts';
import { featureSchema } from './encode-page.ts';
import type { FeatureGroup } from './feature-groups.ts';
import type { FooterFacts } from './footer-groups.ts';
import type { PageLayout } from './page-layout.ts';
import { ParquetFile, replaceFooter } from './parquet-file.ts';

/** Digits in the names of files in a folder. In the order of their names, files are in the order of their sources. */
const nameDigits = 12;

/** The name of the file, in a folder features.parquet, that begins with source `first`. */
export const partName = (first: number): string => `${String(first).padStart(nameDigits, '0')}.parquet`;

/**
 * Makes features.parquet of row groups, which come in the order of their sources: one file, or a folder of files if the
 * job has more sources than `layout` allows in one file. Pages, row groups and files without rows are left out, except
 * the first file of a folder. The content of a file follows from its rows and the layout alone.
 */
export class FeatureFiles {
  readonly #path: string;
  readonly #layout: PageLayout;
  /** The path of the folder, if there is one, until it is whole. */
  readonly #folder: string;
  /** The file that is being written. */
  #file: ParquetFile;
  /** The first source of each row group so far. */
  #groupSources: number[] = [];
  /** The first source of each file of the folder, the present one last; undefined as long as there is no folder. */
  #parts: number[] | undefined;
  #isWide = false;

  /** The folder of `path` must exist. */
  static async create(path: string, layout: PageLayout): Promise<FeatureFiles> {
    return new FeatureFiles(path, layout, await ParquetFile.create(path, featureSchema(false, layout.statistics)));
  }

  private constructor(path: string, layout: PageLayout, file: ParquetFile) {
    this.#path = path;
    this.#layout = layout;
    this.#folder = `${path}.${randomUUID()}.tmp`;
    this.#file = file;
  }

  async append(group: FeatureGroup): Promise<void> {
    const { firstSource, lastSource, isWide } = group;
    if (lastSource >= this.#layout.wholeSources && !this.#parts) await this.#split();
    if (this.#parts && firstSource - this.#parts.at(-1)! >= this.#layout.partSources) await this.#nextPart(firstSource);
    await this.#file.appendGroup(group);
    this.#groupSources.push(firstSource);
    this.#isWide ||= isWide;
  }

  /** Ends the files, makes them durable and gives them their name. `sources`: all of the job, also quarantined ones. */
  async finish(sources: number, about: FooterFacts['about']): Promise<void> {
    if (sources > this.#layout.wholeSources && !this.#parts) await this.#split();
    const facts = { schema: this.#schema(), about };
    await this.#file.finish(facts);
    if (!this.#parts) return;
    // The schema and the description were not known when the first files ended.
    for (const first of this.#parts.slice(0, -1)) await replaceFooter(join(this.#folder, partName(first)), facts);
    await syncFolder(this.#folder);
    await rename(this.#folder, this.#path);
    await syncFolder(dirname(this.#path));
  }

  /** Removes everything that was written, also after a failure. */
  async abort(): Promise<void> {
    await this.#file.abort();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Turns the single file into a folder of files. */
  async #split(): Promise<void> {
    const whole = this.#file;
    await mkdir(this.#folder);
    this.#parts = [];
    try {
      await this.#copyParts(whole, this.#parts);
    } finally {
      await whole.abort();
    }
  }

  async #copyParts(whole: ParquetFile, parts: number[]): Promise<void> {
    for (let from = 0; from < Math.max(1, whole.groups); ) {
      const first = this.#partOf(this.#groupSources[from] ?? 0);
      const next = this.#groupSources.findIndex((source) => source >= first + this.#layout.partSources);
      const to = next < 0 ? Math.max(1, whole.groups) : next;
      if (parts.length > 0) await this.#endPart();
      this.#file = await whole.copy(join(this.#folder, partName(first)), from, to);
      parts.push(first);
      from = to;
    }
  }

  async #nextPart(source: number): Promise<void> {
    await this.#endPart();
    const first = this.#partOf(source);
    this.#file = await ParquetFile.create(
      join(this.#folder, partName(first)),
      featureSchema(false, this.#layout.statistics),
    );
    this.#parts!.push(first);
  }

  /** Ends the present file with a footer for now, which has no description. */
  async #endPart(): Promise<void> {
    await this.#file.finish({ schema: this.#schema(), about: {} });
  }

  #schema(): ReturnType<typeof featureSchema> {
    return featureSchema(this.#isWide, this.#layout.statistics);
  }

  /** The first source of the file that has `source`. */
  #partOf(source: number): number {
    const { partSources } = this.#layout;
    return Math.floor(source / partSources) * partSources;
  }
}
