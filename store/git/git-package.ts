/** What is used of the package, so that a bundle has that alone. */
export { readCommit, readObject, resolveRef } from 'isomorphic-git';
