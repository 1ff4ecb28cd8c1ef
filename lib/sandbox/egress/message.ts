/** How deep and how large a JSON message of a run may be: the daemon walks it several times. */
const DEEPEST = 32;
const MOST_VALUES = 20_000;

/** The object that a body is; undefined where it is none, is nested too deep, or has too many values. Throws SyntaxError. */
export const readMessage = (body: Buffer): object | undefined => {
  const message: unknown = JSON.parse(body.toString('utf8'));
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return undefined;
  return isBounded(message) ? message : undefined;
};

// By levels, not by recursion: it is the depth that is in question.
const isBounded = (message: object): boolean => {
  let level: object[] = [message];
  let values = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    const below = level.flatMap((one) => Object.values(one) as unknown[]);
    values += below.length;
    if (depth >= DEEPEST || values > MOST_VALUES) return false;
    level = below.filter((one): one is object => typeof one === 'object' && one !== null);
  }
  return true;
};
