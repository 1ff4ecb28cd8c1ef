/** The most that each may have of `total`, so that all fit: those that need less leave the rest to the others. */
export const shareOf = (lengths: readonly number[], total: number): number => {
  let left = total;
  for (const [at, length] of lengths.toSorted((a, b) => a - b).entries()) {
    const each = Math.floor(left / (lengths.length - at));
    if (length > each) return Math.max(0, each);
    left -= length;
  }
  return total;
};
