/** Fractional bits of the constants, and of the results of the column transform. */
export const constantBits = 13;
export const betweenBits = 2;

const fixed = (value: number): number => Math.round(value * 2 ** constantBits);

/**
 * The constants of the 8-point transform: sums and differences of cosines times the square root of 2, named by their
 * values.
 */
export const dctConstants = {
  C0298: fixed(0.298631336),
  C0390: fixed(0.390180644),
  C0541: fixed(0.5411961),
  C0765: fixed(0.765366865),
  C0899: fixed(0.899976223),
  C1175: fixed(1.175875602),
  C1501: fixed(1.50132111),
  C1847: fixed(1.847759065),
  C1961: fixed(1.96157056),
  C2053: fixed(2.053119869),
  C2562: fixed(2.562915447),
  C3072: fixed(3.072711026),
};
