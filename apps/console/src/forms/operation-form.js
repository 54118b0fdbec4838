import { button, element } from '../elements.js';

/** @import { KernelsAnswer, Operation, ParameterForm } from '@halogrid/proto' */

/** A form for a kernel and its parameters. */
export class OperationForm {
  #kernels;
  #kernel;
  #fields = element('div', { class: 'fields' });
  #summary = element('p', { class: 'hint' });
  /** @type {{ parameter: ParameterForm, field: HTMLInputElement | HTMLSelectElement }[]} */
  #parameters = [];
  place;

  /** @param {KernelsAnswer['kernels']} kernels @param {(form: OperationForm) => void} [remove] */
  constructor(kernels, remove) {
    this.#kernels = kernels;
    this.#kernel = element('select', {}, ...kernels.map(({ name }) => element('option', {}, name)));
    this.#kernel.addEventListener('change', () => this.#draw());
    const head = element('div', { class: 'fields' }, element('label', {}, 'Kernel ', this.#kernel));
    if (remove) head.append(button('Remove', () => remove(this)));
    this.place = element('li', {}, head, this.#summary, this.#fields);
    this.#draw();
  }

  /**
   * The operation of the form, without parameters that have their default.
   *
   * @param {string} border
   * @returns {Operation}
   */
  operation(border) {
    const given = this.#parameters.filter(
      ({ parameter, field }) => parameter.isRequired || field.value !== parameter.value,
    );
    const parameters = Object.fromEntries(given.map(({ parameter, field }) => [parameter.name, field.value]));
    return { kernel: this.#kernel.value, parameters, border };
  }

  #draw() {
    const chosen = this.#kernels.find(({ name }) => name === this.#kernel.value);
    this.#summary.replaceChildren(chosen?.summary ?? '');
    this.#parameters = (chosen?.parameters ?? []).map(fieldOf);
    this.#fields.replaceChildren(
      ...this.#parameters.map(({ parameter, field }) => {
        const hint = parameter.choices.length > 0 ? [] : [element('span', { class: 'hint' }, parameter.allowed)];
        const isLong = hint.length > 0 && parameter.allowed.length > longHint;
        return element('label', { class: isLong ? 'wide' : undefined }, parameter.name, ' ', field, ...hint);
      }),
    );
  }
}

/** A hint with more characters takes a separate row. */
const longHint = 60;

/** @param {ParameterForm} parameter */
function fieldOf(parameter) {
  const { choices, value } = parameter;
  const field =
    choices.length > 0
      ? element('select', {}, ...choices.map((choice) => element('option', {}, choice)))
      : element('input', { autocomplete: 'off', required: '', pattern: '[^,=:]+' });
  field.value = value;
  return { parameter, field };
}
