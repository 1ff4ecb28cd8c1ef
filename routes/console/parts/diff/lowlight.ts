// Named exports, so that the bundle leaves out 200 languages.
export { common, createLowlight } from 'lowlight';
