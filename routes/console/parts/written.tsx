import { visible } from '../../../store/base/visible.ts';

/** A text that anybody may have written, on one line or several: what may hide something in it is shown. */
export const Written = ({ text }: { text: string }) => <>{visible(text)}</>;
