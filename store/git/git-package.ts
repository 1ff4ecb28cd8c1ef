/** The used parts of the package, so that a bundle contains no others. */
export { readCommit, readObject, resolveRef } from 'isomorphic-git';
