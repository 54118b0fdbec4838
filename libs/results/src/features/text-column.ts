/** A column of texts, few of which differ: that of a row is `texts[numbers[row]]`. A thread hands each text over once. */
export interface TextColumn<Text> {
  texts: Text[];
  numbers: Uint32Array<ArrayBuffer>;
}

/** The column of those texts. */
export function textColumn<Text>(values: readonly Text[]): TextColumn<Text> {
  const found = new Map<Text, number>();
  const numbers = Uint32Array.from(values, (text) => {
    const number = found.get(text) ?? found.size;
    found.set(text, number);
    return number;
  });
  return { texts: [...found.keys()], numbers };
}
