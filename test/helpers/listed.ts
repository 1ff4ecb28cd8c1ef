/** All that is to come. */
export const listed = async <T>(values: AsyncIterable<T>): Promise<T[]> => {
  const list: T[] = [];
  for await (const value of values) list.push(value);
  return list;
};
