/** What keeps a glob from naming files of the main checkout, in words that follow it; undefined when nothing does. */
export const wrongGlob = (glob: string): string | undefined => {
  if (glob.includes('\0')) return 'holds a character that no path can have';
  if (glob.startsWith('/') || glob.split('/').includes('..'))
    return 'leads out of the main checkout: begin at its top, without / and ..';
  return undefined;
};
