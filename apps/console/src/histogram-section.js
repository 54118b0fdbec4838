import { button, element } from './elements.js';
import { histogramChart } from './histogram-chart.js';
import { describeCount } from './quantities.js';

/** @import { MergedSoFar } from '@halogrid/proto' */

/** @typedef {Pick<MergedSoFar, 'counted' | 'channels'>} Histogram */

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
  /** Names of cells, where there are several. @type {readonly string[]} */
  #cells = [];
  #cell = 0;
  /** @type {(cell: number) => Histogram['channels']} */
  #ofCell = () => [];

  /** @param {Element} place @param {() => void} asked called when another pipeline is asked for */
  constructor(place, asked) {
    this.#place = place;
    this.#asked = asked;
  }

  /** The pipeline that is asked for; empty: the first, or the only one. */
  get pipeline() {
    return this.#pipeline;
  }

  /** @param {Histogram} histogram @param {readonly string[]} pipelines names, of which the one is empty that has no other */
  show(histogram, pipelines) {
    this.#shown = { histogram, pipelines };
    this.#draw();
  }

  /**
   * As `show`, of one source: cells of a grid may be looked at one by one, or all together.
   *
   * @param {{ counted: number, channels: readonly string[], cells: readonly number[][], rows: number, columns: number }} source
   */
  showCells({ counted, channels, cells, rows, columns }) {
    const bins = (cells[0]?.length ?? 0) / channels.length;
    const names = cells.map((_, i) => `row ${Math.floor(i / columns)}, column ${i % columns}`);
    const sum = (cells[0] ?? []).map((_, i) => cells.reduce((all, cell) => all + (cell[i] ?? 0), 0));
    const whole = cells.length > 1 ? ['all cells', ...names] : ['all'];
    const counts = cells.length > 1 ? [sum, ...cells] : cells;
    this.#cells = rows * columns > 1 ? whole : [];
    this.#ofCell = (cell) => {
      const of = counts[cell] ?? sum;
      return channels.map((name, i) => ({ name, bins: of.slice(i * bins, (i + 1) * bins) }));
    };
    this.#shown = { histogram: { counted, channels: this.#ofCell(this.#cell) }, pipelines: [] };
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
    if (!channel || channel.bins.length === 0) return this.say('This pipeline has no histogram.');
    const counts = channel.bins.map(Number);
    const width = Math.max(260, this.#place.clientWidth - 26);
    const isFocused = this.#place.contains(document.activeElement);
    if (isFocused && document.activeElement instanceof HTMLSelectElement) return;
    const focused = isFocused ? document.activeElement?.textContent : undefined;
    this.#place.replaceChildren(
      element('div', { class: 'choices' }, ...this.#choices(histogram, pipelines)),
      histogramChart(counts, { name: channel.name, width, scale: this.#scale }),
      element(
        'p',
        { class: 'hint' },
        `${counts.length} bins, ${describeCount(Number(histogram.counted))} pixels counted`,
      ),
    );
    if (focused) [...this.#place.querySelectorAll('button')].find((one) => one.textContent === focused)?.focus();
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
        choice('Cell', this.#cells, this.#cells[this.#cell] ?? '', (name) => {
          this.#cell = this.#cells.indexOf(name);
          if (this.#shown) this.#shown.histogram.channels = this.#ofCell(this.#cell);
          this.#draw();
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
