// Of the package these two alone: with it whole come two hundred languages.
export { common, createLowlight } from 'lowlight';
