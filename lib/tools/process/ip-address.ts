import { isIPv4, isIPv6 } from 'node:net';

/** The 4 or 16 bytes of an IP address without brackets, ignoring a zone; undefined if it is none. */
export const addressBytes = (address: string): number[] | undefined => {
  if (isIPv4(address)) return address.split('.').map(Number);
  const [plain = ''] = address.split('%');
  return isIPv6(plain) ? bytesOf6(plain) : undefined;
};

const bytesOf6 = (address: string): number[] => {
  const [head = '', tail] = address.split('::');
  const [first, last] = [wordsOf(head), wordsOf(tail ?? '')];
  const between = new Array<number>(16 - first.length - last.length).fill(0);
  return [...first, ...between, ...last];
};

const wordsOf = (text: string): number[] =>
  text
    .split(':')
    .filter((word) => word !== '')
    .flatMap((word) => {
      if (word.includes('.')) return word.split('.').map(Number);
      const value = Number.parseInt(word, 16);
      return [value >> 8, value & 0xff];
    });
