/** The most characters at the end of a name that are never cut. */
const END = 14;

/** A name that is cut in the middle where it does not fit: similar names differ at their ends. */
export const Name = ({ of }: { of: string }) => {
  const letters = [...of];
  const at = Math.max(letters.length - END, Math.ceil(letters.length / 2));
  return (
    <>
      <span class="start">{letters.slice(0, at).join('')}</span>
      <span>{letters.slice(at).join('')}</span>
    </>
  );
};
