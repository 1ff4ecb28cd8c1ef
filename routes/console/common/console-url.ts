/** An address of the console, to which a browser is sent; the inbox if the path leads elsewhere. */
export const consoleUrl = (path: string | null, base: URL): URL => {
  const url = new URL(path !== null && URL.canParse(path, base) ? path : INBOX, base);
  const isOurs = url.origin === base.origin && /^\/dashboard(?:\/|$)/.test(url.pathname);
  return isOurs && path !== '' ? url : new URL(INBOX, base);
};

const INBOX = '/dashboard';
