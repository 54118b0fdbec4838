/**
 * A column with few different texts: the text of a row is `texts[numbers[row]]`. Threads pass on each text only once.
 */
export interface TextColumn<Text> {
  texts: Text[];
  numbers: Uint32Array<ArrayBuffer>;
}

/** Makes the column of `values`. */
export function textColumn<Text>(values: readonly Text[]): TextColumn<Text> {
  const found = new Map<Text, number>();
  const numbers = Uint32Array.from(values, (text) => {
    const number = found.get(text) ?? found.size;
    found.set(text, number);
    return number;
  });
  return { texts: [...found.keys()], numbers };
}
