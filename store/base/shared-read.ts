/**
 * Reads, or does, something once for all who ask at a time: whoever asks before a reading begins is given it. One that goes on already is too
 * old for who asks now, so that nobody is ever told what was so before they asked.
 */
export const sharedRead = <T>(read: () => Promise<T>): (() => Promise<T>) => {
  let goingOn: Promise<unknown> | undefined;
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    next = undefined;
    const reading = read();
    goingOn = reading;
    const end = () => {
      if (goingOn === reading) goingOn = undefined;
    };
    reading.then(end, end);
    return reading;
  };
  return () => {
    next ??= goingOn === undefined ? Promise.resolve().then(begin) : goingOn.then(begin, begin);
    return next;
  };
};
