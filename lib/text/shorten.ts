/** A text of so many characters at most, without half of one, and then the mark that says so. */
export const shorten = (text: string, most: number, mark = ' […]'): string =>
  text.length <= most ? text : `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}${mark}`;
