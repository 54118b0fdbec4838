import { button, element } from '../elements.js';
import { describeCount } from '../words/quantities.js';
import { histogramChart } from './histogram-chart.js';

/** @import { FrameHistograms, MergedSoFar } from '@halogrid/proto' */

/** @typedef {Pick<MergedSoFar, 'counted' | 'channels'> & Partial<Pick<MergedSoFar, 'cell'>>} Histogram */

/**
 * The merged histogram of a job: which pipeline and channel, on which scale, and its chart. What was chosen stays as counts grow.
 */
export class HistogramSection {
  #place;
  #pipeline = '';
  #channel = 0;
  /** @type {'linear' | 'log'} */
  #scale = 'linear';
  /** @type {{ histogram: Histogram, pipelines: readonly string[] } | undefined} */
  #shown;
  #asked;
  #picked;
  /** Names of cells, where there are several. @type {readonly string[]} */
  #cells = [];
  /** Of the grid. */
  #columns = 1;
  #cell = 0;
  /** The cell that is pointed at, from 0; undefined: none. @type {number | undefined} */
  #pointed;
  /** 0: all of them. @type {(cell: number) => Histogram['channels']} */
  #ofCell = () => [];
  /** Whether `show` is given the cell that is chosen, as long as counts grow. */
  #isGrowing = false;
  /** @type {((pipeline: string) => Promise<FrameHistograms>) | undefined} */
  #readCells;

  /**
   * `asked` is called when another pipeline is asked for, or another cell while counts grow; `picked` when another cell is shown.
   *
   * @param {Element} place
   * @param {() => void} asked
   * @param {() => void} [picked]
   */
  constructor(place, asked, picked = () => {}) {
    this.#place = place;
    this.#asked = asked;
    this.#picked = picked;
  }

  /** The pipeline that is asked for; empty: the first, or the only one. */
  get pipeline() {
    return this.#pipeline;
  }

  /** The cell that is asked for while counts grow, as ROW,COLUMN; undefined: all together. */
  get growingCell() {
    if (!this.#isGrowing || this.#cell === 0) return undefined;
    const cell = this.#cell - 1;
    return `${Math.floor(cell / this.#columns)},${cell % this.#columns}`;
  }

  /** @param {Histogram} histogram @param {readonly string[]} pipelines names, of which the one is empty that has no other */
  show(histogram, pipelines) {
    const { channels, cell } = histogram;
    // An answer to what was asked before another cell was chosen.
    if (this.#isGrowing && (cell && `${cell.row},${cell.column}`) !== this.growingCell) return;
    if (this.#readCells) this.#ofCell = () => channels;
    this.#shown = { histogram, pipelines };
    if (this.#cell > 0 && this.#readCells) void this.#load();
    else this.#draw();
  }

  /** Cells can be asked for one by one of a job that goes on. @param {{ rows: number, columns: number }} grid */
  offerGrowingCells(grid) {
    this.#cells = namesOf(grid);
    this.#columns = grid.columns;
    this.#isGrowing = true;
  }

  /** Shows all cells together again, and why the one that was asked for cannot be shown. @param {string} sentence */
  refuseCell(sentence) {
    this.#cell = 0;
    this.#draw();
    this.#place.append(element('p', { class: 'hint' }, sentence));
  }

  /**
   * Cells of what is shown can be looked at as well; `read` resolves with those of a pipeline once somebody asks for one.
   *
   * @param {{ rows: number, columns: number }} grid
   * @param {(pipeline: string) => Promise<FrameHistograms>} read
   */
  offerCells(grid, read) {
    this.#cells = namesOf(grid);
    this.#isGrowing = false;
    this.#readCells = read;
  }

  /** Shows the cell that is chosen of all sources. */
  async #load() {
    if (!this.#shown || !this.#readCells) return;
    const { histogram } = this.#shown;
    const all = this.#ofCell(0);
    this.#place.replaceChildren(element('p', { class: 'hint' }, 'Adding up this cell over all sources …'));
    try {
      const { channels, cells } = await this.#readCells(this.#pipeline);
      this.#ofCell = (cell) => (cell === 0 ? all : split(cells[cell - 1]?.bins ?? [], channels));
      histogram.channels = this.#ofCell(this.#cell);
      this.#draw();
    } catch (error) {
      this.refuseCell(/** @type {Error} */ (error).message);
    }
  }

  /**
   * As `show`, of one source: cells of a grid may be looked at one by one, or all together.
   *
   * @param {FrameHistograms & { counted: number, pipelines: readonly string[] }} source
   */
  showCells({ counted, channels, cells, rows, columns, pipelines }) {
    const sum = (cells[0]?.bins ?? []).map((_, i) => cells.reduce((all, { bins }) => all + (bins[i] ?? 0), 0));
    this.#cells = namesOf({ rows, columns });
    this.#ofCell = (cell) => split(cell === 0 ? sum : (cells[cell - 1]?.bins ?? sum), channels);
    this.#shown = { histogram: { counted, channels: this.#ofCell(this.#cell) }, pipelines };
    this.#draw();
  }

  /** The cell that is shown by itself, from 0; undefined where it is all of them. */
  get cell() {
    const cell = this.#pointed === undefined ? this.#cell : this.#pointed + 1;
    return cell > 0 && this.#cells.length > 0 ? cell - 1 : undefined;
  }

  /** Shows the cell that is pointed at, or again the one that was chosen. @param {number | undefined} cell from 0 */
  point(cell) {
    if (cell === this.#pointed || !this.#shown || this.#cells.length === 0) return;
    this.#pointed = cell;
    this.#shown.histogram.channels = this.#ofCell(cell === undefined ? this.#cell : cell + 1);
    this.#draw();
  }

  /** @param {string} sentence why there is none */
  say(sentence) {
    this.#shown = undefined;
    this.#place.replaceChildren(element('p', { class: 'hint' }, sentence));
  }

  #draw() {
    if (!this.#shown) return;
    const { histogram, pipelines } = this.#shown;
    const channel = histogram.channels[this.#channel] ?? histogram.channels[0];
    const choices = element('div', { class: 'choices' }, ...this.#choices(histogram, pipelines));
    if (!channel || channel.bins.length === 0) {
      return this.#place.replaceChildren(choices, element('p', { class: 'hint' }, 'This pipeline has no histogram.'));
    }
    const counts = channel.bins.map(Number);
    const width = Math.max(260, this.#place.clientWidth - 26);
    const isFocused = this.#place.contains(document.activeElement);
    if (isFocused && document.activeElement instanceof HTMLSelectElement) return;
    const focused = isFocused ? document.activeElement?.textContent : undefined;
    this.#place.replaceChildren(
      choices,
      histogramChart(counts, { name: channel.name, width, scale: this.#scale }),
      element('p', { class: 'hint' }, this.#describe(histogram, counts)),
    );
    if (focused) [...this.#place.querySelectorAll('button')].find((one) => one.textContent === focused)?.focus();
  }

  /** @param {Histogram} histogram @param {readonly number[]} counts */
  #describe({ counted, cell }, counts) {
    const bins = `${counts.length} bins`;
    if (this.cell === undefined) return `${bins}, ${describeCount(Number(counted))} pixels counted`;
    const inCell = `${bins}, ${describeCount(counts.reduce((sum, count) => sum + count, 0))} counts in this cell`;
    if (!cell) return inCell;
    return `${inCell} of the first ${cell.sources === 1 ? 'source' : `${describeCount(cell.sources)} sources`}`;
  }

  /** @param {Histogram} histogram @param {readonly string[]} pipelines */
  #choices({ channels }, pipelines) {
    const made = [];
    if (pipelines.length > 1) {
      made.push(
        choice('Pipeline', pipelines, this.#pipeline || (pipelines[0] ?? ''), (name) => {
          this.#pipeline = name;
          this.#channel = 0;
          this.#asked();
        }),
      );
    }
    if (this.#cells.length > 0) {
      made.push(
        choice('Cell', this.#cells, this.#cells[this.cell === undefined ? 0 : this.cell + 1] ?? '', (name) => {
          this.#cell = this.#cells.indexOf(name);
          this.#pointed = undefined;
          if (this.#isGrowing) return this.#asked();
          if (this.#readCells && this.#cell > 0) return void this.#load();
          if (this.#shown) this.#shown.histogram.channels = this.#ofCell(this.#cell);
          this.#draw();
          this.#picked();
        }),
      );
    }
    if (channels.length > 1) {
      const names = channels.map(({ name }) => name);
      made.push(
        choice('Channel', names, names[this.#channel] ?? '', (name) => {
          this.#channel = names.indexOf(name);
          this.#draw();
        }),
      );
    }
    const scales = /** @type {const} */ (['linear', 'log']).map((scale) => {
      const made = button(scale, () => {
        this.#scale = scale;
        this.#draw();
      });
      made.setAttribute('aria-pressed', String(scale === this.#scale));
      return made;
    });
    return [...made, element('span', { class: 'switch', role: 'group', 'aria-label': 'Scale of counts' }, ...scales)];
  }
}

/** Names of the cells of a grid, after that of all; none where it is not divided. @param {{ rows: number, columns: number }} grid */
function namesOf({ rows, columns }) {
  const count = rows * columns;
  if (count < 2) return [];
  const names = Array.from({ length: count }, (_, i) => `row ${Math.floor(i / columns)}, column ${i % columns}`);
  return ['all cells', ...names];
}

/** Counts of every channel, one after another, by channel. @param {readonly number[]} counts @param {readonly string[]} channels */
function split(counts, channels) {
  const bins = counts.length / channels.length;
  return channels.map((name, i) => ({ name, bins: counts.slice(i * bins, (i + 1) * bins) }));
}

/** @param {string} label @param {readonly string[]} names @param {string} chosen @param {(name: string) => void} choose */
function choice(label, names, chosen, choose) {
  const select = element('select', {}, ...names.map((name) => element('option', {}, name)));
  select.value = chosen;
  select.addEventListener('change', () => {
    select.blur();
    choose(select.value);
  });
  return element('label', {}, `${label} `, select);
}
