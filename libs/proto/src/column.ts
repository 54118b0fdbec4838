/** What `column` of a specification may be, for sentences. */
export const allowedColumns = 'names of fields and of the column in them, joined by dots';

/** Whether a text can be the name of a column of Parquet files. */
export const isColumn = (text: string): boolean => /^[^\p{Cc}]+$/u.test(text);
