import { useEffect, useState } from 'preact/hooks';

/** Asks the browser for leave to tell of what waits while one looks elsewhere. Not there where it was answered. */
export const NotifyMe = () => {
  const [isOpen, setOpen] = useState(false);
  useEffect(
    () => setOpen('Notification' in globalThis && Notification.permission === 'default'),
    [],
  );
  if (!isOpen) return null;
  const ask = () => void Notification.requestPermission().then(() => setOpen(false));
  return (
    <button type="button" onClick={ask} data-key="n">
      Notify me
    </button>
  );
};
