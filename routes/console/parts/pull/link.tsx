import type { ComponentChildren } from 'preact';

/** A link to the code host, where it said a place that a browser may go to. */
export const HostLink = ({ url, children }: { url: string | null; children: ComponentChildren }) =>
  url !== null && /^https?:\/\//i.test(url) ? (
    <a href={url} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ) : (
    <span>{children}</span>
  );
