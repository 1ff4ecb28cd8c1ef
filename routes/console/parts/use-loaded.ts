import { useEffect, useState } from 'preact/hooks';

/** Loads a value in the browser. A failure can be retried. */
export const useLoaded = <T>(load: () => Promise<T>, on: unknown = 0, isNeeded = true) => {
  const [{ value, failed }, set] = useState<{ value?: T; failed: boolean }>({ failed: false });
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isOld = false;
    if (isNeeded)
      load().then(
        (came) => !isOld && set({ value: came, failed: false }),
        () => !isOld && set((before) => ({ ...before, failed: true })),
      );
    return () => {
      isOld = true;
    };
  }, [isNeeded, on, tries]);
  return { value, failed, retry: () => setTries(tries + 1) };
};
