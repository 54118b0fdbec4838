import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../files/atomic-file.ts';
import { featureSchema } from './encode-page.ts';
import type { FeatureGroup } from './feature-groups.ts';
import type { FooterFacts } from './footer-groups.ts';
import type { PageLayout } from './page-layout.ts';
import { ParquetFile, replaceFooter } from './parquet-file.ts';

/** Digits of the names of files in a folder, so that their order is that of their sources. */
const nameDigits = 12;

/** The file of a folder features.parquet that begins with source `first`. */
export const partName = (first: number): string => `${String(first).padStart(nameDigits, '0')}.parquet`;

/**
 * Makes features.parquet of row groups, which come in the order of their sources: one file, or a folder of files where the job has more
 * sources than `layout` has for one. A page, row group or file without rows is left out, but for the first file of a folder.
 * What is in a file follows from its rows and the layout alone.
 */
export class FeatureFiles {
  readonly #path: string;
  readonly #layout: PageLayout;
  /** Where the folder grows, if there is one. */
  readonly #folder: string;
  /** The file that is written. */
  #file: ParquetFile;
  /** The first source of each of its row groups. */
  #groupSources: number[] = [];
  /** The first source of each file of the folder, that one last; undefined as long as there is but one file. */
  #parts: number[] | undefined;
  #isWide = false;

  /** The folder of `path` must exist. */
  static async create(path: string, layout: PageLayout): Promise<FeatureFiles> {
    return new FeatureFiles(path, layout, await ParquetFile.create(path, featureSchema(false)));
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

  /** The job has so many sources, quarantined ones too. Ends the files, makes them durable and gives them their name. */
  async finish(sources: number, about: FooterFacts['about']): Promise<void> {
    if (sources > this.#layout.wholeSources && !this.#parts) await this.#split();
    const facts = { schema: featureSchema(this.#isWide), about };
    await this.#file.finish(facts);
    if (!this.#parts) return;
    // What the first files are to say was not known when they ended.
    for (const first of this.#parts.slice(0, -1)) await replaceFooter(join(this.#folder, partName(first)), facts);
    await syncFolder(this.#folder);
    await rename(this.#folder, this.#path);
    await syncFolder(dirname(this.#path));
  }

  /** Removes what was written, also after a failure. */
  async abort(): Promise<void> {
    await this.#file.abort();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Makes a folder of files of the file. */
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
    this.#file = await ParquetFile.create(join(this.#folder, partName(first)), featureSchema(false));
    this.#parts!.push(first);
  }

  /** With a footer that says nothing but of row groups. */
  async #endPart(): Promise<void> {
    await this.#file.finish({ schema: featureSchema(this.#isWide), about: {} });
  }

  /** The first source of the file that has that one. */
  #partOf(source: number): number {
    const { partSources } = this.#layout;
    return Math.floor(source / partSources) * partSources;
  }
}
