// What shows nothing but itself: a drawing (SVG) can run and load things, so it is none of these.
const PICTURE = /\.(?:png|jpe?g|gif|webp|avif)$/i;
const TEXT = /\.(?:txt|log|json|csv|diff|patch|out|err|xml|ya?ml|markdown|tap|svg|html?)$/i;

/** A file that is shown as a picture, by its name. */
export const isPicture = (file: string): boolean => PICTURE.test(file);

/** A file that is shown as the text that it is, by its name. */
export const isText = (file: string): boolean => TEXT.test(file);

/** More of a text is not in the page. In characters, and in bytes of a file. */
export const LONGEST = 16 * 1024;
