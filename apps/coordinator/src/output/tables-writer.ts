import { readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FeatureFiles } from '@halogrid/results/feature-files';
import { binsOfCell } from '@halogrid/results/histogram-shape';
import { PageMaker } from '@halogrid/results/page-maker';
import { listNames } from '@halogrid/results/source-list';
import { CaptureRule } from '@halogrid/sources/captured';
import { redactUri } from '@halogrid/sources/redact-uri';
import type { SettledRow } from '../ledger/ledger.ts';
import { readPackedHistograms } from '../ledger/read-histograms.ts';
import { SettledFrames } from '../ledger/settled-frames.ts';
import { placesOf } from '../ledger/settled-rows.ts';
import type { HistogramPlace } from '../log/settled-source.ts';
import { SourceTables } from './source-tables.ts';
import type { TablePaths, TablesOrder, TablesTask } from './tables-order.ts';
import type { PartSummary } from './tables-output.ts';

type DoneRow = Extract<SettledRow, { state: 'done' }>;

/** Writes the tables of a job's sources as its TablesFile orders, one order at a time; after the last it may open others. */
export class TablesWriter {
  #task!: TablesTask;
  #rule!: CaptureRule;
  #tables: SourceTables | undefined;
  /** Undefined where the pipeline has no histogram. */
  #features: { pages: PageMaker; files: FeatureFiles } | undefined;

  async obey(order: TablesOrder): Promise<PartSummary | undefined> {
    switch (order.kind) {
      case 'open':
        await this.#open(order);
        return;
      case 'write':
        await this.#write(order);
        return;
      case 'finish':
        return this.#finish(order);
    }
  }

  /** Removes what was written of tables that are not finished. */
  async abort(): Promise<void> {
    await this.#features?.files.abort();
    await this.#tables?.abort();
  }

  async #open(task: TablesTask): Promise<void> {
    this.#task = task;
    await removeLeftOvers(task.unfinished);
    this.#rule = new CaptureRule(task.captured);
    this.#tables = await SourceTables.create({ ...task.unfinished, rule: this.#rule, mostLines: task.limits?.lines });
    this.#features = undefined;
    if (task.shape.bins > 0) {
      const shape = { grid: task.shape.grid, bins: binsOfCell(task.shape) };
      const pages = new PageMaker(shape, task.limits);
      this.#features = { pages, files: await FeatureFiles.create(task.unfinished.features, pages.layout) };
    }
  }

  async #write({ runs }: Extract<TablesOrder, { kind: 'write' }>): Promise<void> {
    for (const run of runs) {
      if (run.kind === 'sources') await this.#writeRows(run.sources, run.file, placesOf(run.sources));
      else {
        const frames = new SettledFrames(run);
        await this.#writeRows(frames.rows(), run.file, frames.places());
      }
    }
  }

  async #finish({ sources, description }: Extract<TablesOrder, { kind: 'finish' }>): Promise<PartSummary> {
    if (this.#features) {
      await this.#append(this.#features.pages.end());
      await this.#features.files.finish(sources, { halogrid: JSON.stringify(description) });
    }
    const summary = await this.#tables!.finish();
    const list = summary.file === listNames.rows ? 'rows' : 'sources';
    for (const table of ['features', list, 'errors'] as const) await this.#move(table);
    return summary;
  }

  /** Moves a table to its place, where a writer that failed may have left another. */
  async #move(table: keyof TablePaths): Promise<void> {
    const { paths, unfinished } = this.#task;
    await rm(paths[table], { recursive: true, force: true });
    await rename(unfinished[table], paths[table]).catch((error: NodeJS.ErrnoException) => {
      // A job without histograms, or without errors, has no such table.
      const isMissing = error.code === 'ENOENT' && (table === 'errors' || (table === 'features' && !this.#features));
      if (!isMissing) throw error;
    });
  }

  /** Writes rows, and the histograms of those that have a place, which is among `places` in the same order. */
  async #writeRows(rows: Iterable<SettledRow>, file: string, places: readonly HistogramPlace[]): Promise<void> {
    const histograms = readPackedHistograms(file, this.#features ? places : []);
    for (const row of rows) {
      const written = this.#tables!.add(row);
      if (written) await written;
      if (!this.#features || row.state !== 'done' || !row.place) continue;
      const { bytes, areNew, at } = histograms.next().value!;
      if (areNew) this.#features.pages.load(bytes);
      await this.#addHistograms(this.#features.pages, row, at);
    }
  }

  /** Adds the rows of a source, whose counts begin there in what was loaded. */
  async #addHistograms(pages: PageMaker, row: DoneRow, from: number): Promise<void> {
    const { grid, bins } = this.#task.shape;
    const { uri, name, index: number, video } = row;
    const { atMs: capturedAtMs, camera } = this.#rule.of(row);
    const { frame = 0, timestampMs = null } = video ?? {};
    const source = { number, source: redactUri(uri), name, frame, timestampMs, capturedAtMs, camera };
    const ended = pages.begin(source);
    if (ended) await this.#append(ended);
    let at = from;
    // Cells without pixels have a row too.
    for (let cell = 0; cell < grid.rows * grid.columns; cell++) {
      // Every channel counts the same pixels.
      at = pages.addPacked(at, bins);
      if (pages.isFull) await this.#append(pages.end());
    }
  }

  async #append(page: ReturnType<PageMaker['end']>): Promise<void> {
    if (page) await this.#features!.files.append(page);
  }
}

/** Removes unfinished tables of a writer that failed, because they take room, and a folder takes the place of none. */
async function removeLeftOvers(unfinished: TablePaths): Promise<void> {
  for (const path of Object.values(unfinished) as string[]) {
    const folder = dirname(path);
    const names = (await readdir(folder).catch((): string[] => [])).filter((name) =>
      `${name}.`.startsWith(`${basename(path)}.`),
    );
    for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
  }
}
