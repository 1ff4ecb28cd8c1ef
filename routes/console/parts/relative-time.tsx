import { useEffect, useState } from 'preact/hooks';
import { utcOf } from './labels.ts';

/** A time: absolute on the server, relative in the browser. */
export const RelativeTime = ({ at }: { at: string }) => {
  const exactly = utcOf(at);
  const [words, setWords] = useState(exactly);
  useEffect(() => {
    const tell = () => setWords(agoOf(Date.parse(at)));
    tell();
    const timer = setInterval(tell, 30_000);
    return () => clearInterval(timer);
  }, [at]);
  return (
    <time class="quiet since" dateTime={at} title={exactly}>
      {words}
    </time>
  );
};

const STEPS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
] as const;

const agoOf = (at: number): string => {
  const seconds = (Date.now() - at) / 1000;
  const step = STEPS.find(([length]) => seconds >= length);
  return step === undefined ? 'now' : `${Math.floor(seconds / step[0])} ${step[1]} ago`;
};
