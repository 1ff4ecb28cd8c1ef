/** Where readers wait for the next event: a place each, whatever there is to come. */
export interface WaitingRoom {
  wake(): void;
  /** Resolves when somebody wakes all who wait, or `signal` aborts. */
  wait(signal: AbortSignal): Promise<void>;
}

export const createWaitingRoom = (): WaitingRoom => {
  const waiting = new Set<() => void>();
  return {
    wake: () => {
      for (const leave of [...waiting]) leave();
    },
    wait: (signal) =>
      new Promise((resolve) => {
        const leave = (): void => {
          waiting.delete(leave);
          signal.removeEventListener('abort', leave);
          resolve();
        };
        if (signal.aborted) return resolve();
        waiting.add(leave);
        signal.addEventListener('abort', leave);
      }),
  };
};
