import { useContext, useEffect, useState } from 'preact/hooks';
import { InReach } from './form.tsx';

interface Loaded<T> {
  value: T | undefined;
  /** It could not be had. */
  failed: boolean;
  again: () => void;
}

/** What a page has loaded once it is looked at in a browser; a failure is told, and can be tried again. */
export const useLoaded = <T>(
  load: () => Promise<T>,
  on: unknown = 0,
  isNeeded = true,
): Loaded<T> => {
  const isLive = useContext(InReach) !== undefined;
  const [{ value, failed }, set] = useState<{ value?: T; failed: boolean }>({ failed: false });
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isOld = false;
    if (isLive && isNeeded)
      load().then(
        (came) => !isOld && set({ value: came, failed: false }),
        () => !isOld && set((before) => ({ ...before, failed: true })),
      );
    return () => {
      isOld = true;
    };
  }, [isLive, isNeeded, on, tries]);
  return { value, failed, again: () => setTries(tries + 1) };
};
