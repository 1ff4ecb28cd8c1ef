import { useEffect, useState } from 'preact/hooks';
import { ageOf, utcOf } from '../../../lib/text/wording.ts';

/** A time: absolute on the server, relative in the browser. */
export const RelativeTime = ({ at }: { at: string }) => {
  const exactly = utcOf(at);
  const [words, setWords] = useState(exactly);
  useEffect(() => {
    const tell = () => setWords(agoOf(at));
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

// A page says no seconds, which would be out of date at once.
const agoOf = (at: string): string => {
  const age = ageOf(at);
  return age.endsWith(' s') ? 'now' : `${age} ago`;
};
