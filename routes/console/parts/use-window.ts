import { useEffect } from 'preact/hooks';

/** Listens to the window while the component is there. `on` is what the listener depends on. */
export const useWindow = <E extends keyof WindowEventMap>(
  event: E,
  listener: (event: WindowEventMap[E]) => void,
  on?: unknown,
): void =>
  useEffect(() => {
    window.addEventListener(event, listener);
    return () => window.removeEventListener(event, listener);
  }, [on]);
