import { button, element } from '../elements.js';
import { describeCount } from '../words/quantities.js';
import { histogramChart } from './histogram-chart.js';

/** @import { FrameHistograms, MergedSoFar } from '@halogrid/proto' */

/**
 * @typedef {number | string} Count a string above 2^53
 * @typedef {{ name: string, bins: Count[] }} Channel
 * @typedef {{ counted: Count, channels: Channel[] } & Partial<Pick<MergedSoFar, 'cell'>>} Histogram
 */

/**
 * The histogram of a job or of a source: menus for pipeline, cell and channel, a switch for the scale, and the chart.
 * The choices stay while counts grow.
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
  /** Names in the menu of cells; empty for a single cell. @type {readonly string[]} */
  #cells = [];
  /** Columns of the grid. */
  #columns = 1;
  #cell = 0;
  /** The cell under the pointer, from 0; undefined: none. @type {number | undefined} */
  #pointed;
  /**
   * The channels of a cell by its place in the menu; 0: all cells together.
   *
   * @type {(cell: number) => Histogram['channels']}
   */
  #ofCell = () => [];
  /** Whether the job still runs. Then `show` is given the counts of the chosen cell alone. */
  #isGrowing = false;
  /** @type {((pipeline: string) => Promise<FrameHistograms>) | undefined} */
  #readCells;

  /**
   * `asked` is called when another pipeline is chosen, or another cell of a running job; `picked` when another cell is
   * shown.
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

  /** The chosen pipeline; empty: the first, or the only one. */
  get pipeline() {
    return this.#pipeline;
  }

  /** The chosen cell of a running job, as ROW,COLUMN; undefined: all cells together. */
  get growingCell() {
    if (!this.#isGrowing || this.#cell === 0) return undefined;
    const cell = this.#cell - 1;
    return `${Math.floor(cell / this.#columns)},${cell % this.#columns}`;
  }

  /**
   * @param {Histogram} histogram
   * @param {readonly string[]} pipelines names; a pipeline without a name is the only one
   */
  show(histogram, pipelines) {
    const { channels, cell } = histogram;
    // Another cell was chosen since this was asked for.
    if (this.#isGrowing && (cell && `${cell.row},${cell.column}`) !== this.growingCell) return;
    if (this.#readCells) this.#ofCell = () => channels;
    this.#shown = { histogram, pipelines };
    if (this.#cell > 0 && this.#readCells) void this.#load();
    else this.#draw();
  }

  /**
   * Offers the cells of a running job, whose counts are asked for one cell at a time.
   *
   * @param {{ rows: number, columns: number }} grid
   */
  offerGrowingCells(grid) {
    this.#cells = namesOf(grid);
    this.#columns = grid.columns;
    this.#isGrowing = true;
  }

  /** Shows all cells together again, with the reason why the chosen cell cannot be shown. @param {string} sentence */
  refuseCell(sentence) {
    this.#cell = 0;
    this.#draw();
    this.#place.append(element('p', { class: 'hint' }, sentence));
  }

  /**
   * Offers the cells of a complete job. `read` resolves with the cells of a pipeline, and is called when the user
   * chooses a cell.
   *
   * @param {{ rows: number, columns: number }} grid
   * @param {(pipeline: string) => Promise<FrameHistograms>} read
   */
  offerCells(grid, read) {
    this.#cells = namesOf(grid);
    this.#isGrowing = false;
    this.#readCells = read;
  }

  /** Shows the chosen cell, added up over all sources. */
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
   * Shows the histogram of one source, whose cells can be chosen one by one.
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

  /** The cell that is shown, from 0; undefined: all cells together. */
  get cell() {
    const cell = this.#pointed === undefined ? this.#cell : this.#pointed + 1;
    return cell > 0 && this.#cells.length > 0 ? cell - 1 : undefined;
  }

  /** Shows the cell under the pointer; undefined: the chosen cell again. @param {number | undefined} cell from 0 */
  point(cell) {
    if (cell === this.#pointed || !this.#shown || this.#cells.length === 0) return;
    this.#pointed = cell;
    this.#shown.histogram.channels = this.#ofCell(cell === undefined ? this.#cell : cell + 1);
    this.#draw();
  }

  /** @param {string} sentence the reason why the histogram is missing */
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

/**
 * Names for the menu of cells: all cells, then each; empty for a grid of one cell.
 *
 * @param {{ rows: number, columns: number }} grid
 */
function namesOf({ rows, columns }) {
  const count = rows * columns;
  if (count < 2) return [];
  const names = Array.from({ length: count }, (_, i) => `row ${Math.floor(i / columns)}, column ${i % columns}`);
  return ['all cells', ...names];
}

/**
 * Splits counts that hold the channels one after another.
 *
 * @param {readonly number[]} counts
 * @param {readonly string[]} channels
 */
function split(counts, channels) {
  const bins = counts.length / channels.length;
  return channels.map((name, i) => ({ name, bins: counts.slice(i * bins, (i + 1) * bins) }));
}

/**
 * @param {string} label
 * @param {readonly string[]} names
 * @param {string} chosen
 * @param {(name: string) => void} choose
 */
function choice(label, names, chosen, choose) {
  const select = element('select', {}, ...names.map((name) => element('option', {}, name)));
  select.value = chosen;
  select.addEventListener('change', () => {
    select.blur();
    choose(select.value);
  });
  return element('label', {}, `${label} `, select);
}
