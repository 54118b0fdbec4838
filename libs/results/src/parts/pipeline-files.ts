import { mkdir } from 'node:fs/promises';
import type { CaptureRule } from '@halogrid/sources/captured';
import { settleAll } from '@halogrid/threads';
import type { RowsPage } from '../features/encode-group.ts';
import { featureSchema, type PlacedPage } from '../features/encode-page.ts';
import { areOfOneGroup } from '../features/page-layout.ts';
import type { PageMaker } from '../features/page-maker.ts';
import { listHead } from '../sources/list-head.ts';
import { headKey } from '../sources/source-line.ts';
import { groupPages, sourceSchema } from '../sources/source-pages.ts';
import type { FoundSource } from './found-shard.ts';
import { PartFile } from './part-file.ts';
import type { PipelinePages } from './pipeline-pages.ts';
import type { pipelinePaths, ShardPlace } from './shard-place.ts';
import { featureSource, listLine, type SourceFacts, withTime } from './source-facts.ts';

interface Features {
  pages: PageMaker;
  file: PartFile<PlacedPage>;
  isWide: boolean;
}

/** The files of a pipeline in a part that is being written. */
export class PipelineFiles {
  readonly #pages: PipelinePages;
  readonly #rule: CaptureRule;
  readonly #list: PartFile<RowsPage>;
  /** Undefined if the pipeline has no histogram. */
  readonly #features: Features | undefined;

  static async create(
    { folder, sources, features }: ReturnType<typeof pipelinePaths>,
    pages: PipelinePages,
    rule: CaptureRule,
  ): Promise<PipelineFiles> {
    await mkdir(folder, { recursive: true });
    const list = await PartFile.create<RowsPage>(sources, sourceSchema, (group) => group.length < groupPages);
    const maker = pages.features;
    if (!maker) return new PipelineFiles(pages, rule, list);
    const isOfGroup = ([first]: readonly PlacedPage[], page: PlacedPage) => areOfOneGroup(maker.layout, first!, page);
    const file = await PartFile.create(features, featureSchema(false), isOfGroup);
    return new PipelineFiles(pages, rule, list, { pages: maker, file, isWide: false });
  }

  private constructor(pages: PipelinePages, rule: CaptureRule, list: PartFile<RowsPage>, features?: Features) {
    this.#pages = pages;
    this.#rule = rule;
    this.#list = list;
    this.#features = features;
  }

  get bytes(): number {
    return this.#list.bytes + (this.#features?.file.bytes ?? 0);
  }

  /** Adds a source; `stated` is absent for a quarantined one. Row groups that it completes are held until `write`. */
  add(facts: SourceFacts, stated?: FoundSource): void {
    const found = stated && withTime(this.#rule, facts, stated);
    const lines = this.#pages.lines.add(listLine(facts, found));
    if (lines) this.#list.add(lines);
    if (!found || !this.#features) return;
    const source = featureSource(facts, found.captured, this.#rule);
    this.#addPages(this.#features.pages.addSource(source, found.bins, this.#pages.shape.bins));
  }

  /** Whether there is something to write. */
  get isBehind(): boolean {
    return this.#list.isBehind || this.#features?.file.isBehind === true;
  }

  async write(): Promise<void> {
    await this.#list.write();
    await this.#features?.file.write();
  }

  /** Ends the shard of the added sources. Returns its places in the files. */
  async endShard(): Promise<ShardPlace> {
    const lines = this.#pages.lines.end();
    if (lines) this.#list.add(lines);
    const sources = await this.#list.endShard();
    if (!this.#features) return { sources };
    const page = this.#features.pages.end();
    if (page) this.#addPages([page]);
    return { sources, features: await this.#features.file.endShard() };
  }

  /** Writes the footers and makes the content of the files durable. */
  async finish(): Promise<void> {
    const about = { [headKey]: JSON.stringify(listHead) };
    await settleAll([
      this.#list.finish({ schema: sourceSchema, about }),
      this.#features?.file.finish({ schema: featureSchema(this.#features.isWide), about: {} }) ?? Promise.resolve(),
    ]);
  }

  /** Closes the files and removes them. */
  async abort(): Promise<void> {
    await this.#list.abort();
    await this.#features?.file.abort();
  }

  #addPages(pages: readonly PlacedPage[]): void {
    for (const page of pages) {
      this.#features!.isWide ||= page.isWide;
      this.#features!.file.add(page);
    }
  }
}
